Traceback (most recent call last):
  File "/tmp/w/bg.py", line 4, in <module>
    os.execvp(sys.argv[2],sys.argv[2:])
  File "<frozen os>", line 574, in execvp
  File "<frozen os>", line 597, in _execvpe
OSError: [Errno 8] Exec format error
