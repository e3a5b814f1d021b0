/* The header sqlite-vec asks for: that of the SQLite it is linked with, which
   github.com/mattn/go-sqlite3 ships under another name. .ci/cgo sets both
   folders. */
#include <sqlite3-binding.h>
