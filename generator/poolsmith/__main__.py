"""`python -m poolsmith`; in a checkout it says which Python is needed before pip says that some package can't be found.

So far any Python can read it, back to 2.7.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - see above
    sys.exit("poolsmith needs Python 3.11 or later, and " + sys.executable + " is " + sys.version.split()[0])

from poolsmith.interface.cli.main import main

if __name__ == "__main__":
    main()
