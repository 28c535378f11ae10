# Compile flags of every target. Floating-point contraction is off: an FMA is written as one, so that
# results do not depend on what a compiler chooses to contract.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
if(TBOOST_SANITIZE STREQUAL thread)  # at -O2 clang 14's TSan stops in code that has no threads
  set(CMAKE_CXX_FLAGS_RELEASE "-O1 -g1")
endif()
add_compile_options(-Wall -Wextra -Werror -march=x86-64-v2 -ffp-contract=off -fno-math-errno)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # these misfire on std::string of precompiled headers
  add_compile_options(-Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict -Wno-array-bounds)
endif()
if(TBOOST_SANITIZE)
  add_compile_options(-fsanitize=${TBOOST_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TBOOST_SANITIZE})
endif()
if(TBOOST_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include)

# Instruction sets of the kernels: name and flags. Each kernel source is compiled once per line.
set(TBOOST_ISAS baseline avx2 avx512)
set(TBOOST_ISA_FLAGS_baseline -O3 -march=x86-64-v2)
set(TBOOST_ISA_FLAGS_avx2 -O3 -march=x86-64-v3)
set(TBOOST_ISA_FLAGS_avx512 -O3 -march=x86-64-v4 -mprefer-vector-width=512)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # its AVX-512 header trips over these by itself
  list(APPEND TBOOST_ISA_FLAGS_avx512 -Wno-uninitialized -Wno-maybe-uninitialized)
endif()
# Variants of them: the base first, then more instructions. Of a variant only the kernels that its folder's
# variants.inc lists are compiled; a source sees TBOOST_ISA_NAME=1 for the variant and all that it builds on.
set(TBOOST_VARIANTS avx2_vnni avx512_vnni avx512_bf16)
set(TBOOST_VARIANT_OF_avx2_vnni avx2)
set(TBOOST_VARIANT_OF_avx512_vnni avx512)
set(TBOOST_VARIANT_OF_avx512_bf16 avx512 avx512_vnni)
set(TBOOST_ISA_FLAGS_avx2_vnni ${TBOOST_ISA_FLAGS_avx2} -mavxvnni)
set(TBOOST_ISA_FLAGS_avx512_vnni ${TBOOST_ISA_FLAGS_avx512} -mavx512vnni)
set(TBOOST_ISA_FLAGS_avx512_bf16 ${TBOOST_ISA_FLAGS_avx512_vnni} -mavx512bf16)
# AVX-512's shape in plain C++, linked into kernel tests only.
set(TBOOST_ISA_FLAGS_emulated -O1 -march=x86-64-v3 -Wno-psabi)

# Kernels are trusted with sizes, not memory: ASan checks their reads, while UBSan and coverage, multiplied by
# inlining, would take minutes a file.
if(TBOOST_SANITIZE)
  foreach(isa IN LISTS TBOOST_ISAS TBOOST_VARIANTS ITEMS emulated)
    list(APPEND TBOOST_ISA_FLAGS_${isa} -O1 -fno-sanitize=undefined)
    if(TBOOST_FUZZ)
      list(APPEND TBOOST_ISA_FLAGS_${isa} -fno-sanitize=fuzzer-no-link)
    endif()
  endforeach()
endif()
