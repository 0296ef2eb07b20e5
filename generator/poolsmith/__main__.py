"""`python -m poolsmith`."""

from poolsmith.interface.cli.main import main

if __name__ == "__main__":
    main()
