"""`python -m poolsmith`."""

from poolsmith.cli.main import main

if __name__ == "__main__":
    main()
