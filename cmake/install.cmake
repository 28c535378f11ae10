# The installed tree: program, library, headers and a CMake package.
