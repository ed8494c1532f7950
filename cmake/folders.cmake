# spdistal_folder(NAME USES folder... LIBRARIES target... PUBLIC header... WITHOUT source... PRECOMPILED header... ALONE source...)
#
# Declares src/NAME as a target of its own. USES is the list of folders it may include from, the direction of
# dependencies; PUBLIC are the headers of include/spdistal that belong to the folder, by name or pattern. `tools/check`
# reads the same lists and refuses any other include. Sources are found by themselves, so a
# new level, command, pass or file format is a new file and nothing here; WITHOUT names those that this build leaves out.
# All folders are compiled with the same flags, OpenMP's among them, so that one precompiled header serves them; a folder of
# many files that share headers of the project names these (PRECOMPILED) and has one of its own. Sources are compiled several
# at a time (spdistal_together), but for those that name what is theirs as others of the folder do (ALONE, names or patterns).
function(spdistal_folder name)
  cmake_parse_arguments(ARG "" "" "USES;LIBRARIES;PUBLIC;WITHOUT;PRECOMPILED;ALONE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  foreach(source ${ARG_WITHOUT})
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${name}/${source})
  endforeach()
  if(sources)
    add_library(spdistal_${name} OBJECT ${sources})
    set(scope PUBLIC)
    set_property(GLOBAL APPEND PROPERTY SPDISTAL_OBJECTS $<TARGET_OBJECTS:spdistal_${name}>)
  else()
    add_library(spdistal_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(spdistal_${name} ${scope} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(spdistal_${name} ${scope} ${ARG_LIBRARIES} OpenMP::OpenMP_CXX)
  foreach(used ${ARG_USES})
    target_link_libraries(spdistal_${name} ${scope} spdistal_${used})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY SPDISTAL_LIBRARIES ${ARG_LIBRARIES} OpenMP::OpenMP_CXX)
  if(sources)
    if(ARG_PRECOMPILED)
      spdistal_precompiled(spdistal_${name} LIKE spdistal_${name} ${ARG_PRECOMPILED})
    else()
      spdistal_precompiled(spdistal_${name} LIKE spdistal_base)
    endif()
    list(TRANSFORM ARG_ALONE PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${name}/)
    spdistal_together(spdistal_${name} ALONE ${ARG_ALONE})
  endif()
endfunction()

# spdistal_together(TARGET ALONE source...): sources of a target are compiled eight at a time, which reads what they include once: a
# build from scratch takes half the time. ALONE names those, or patterns of those, that cannot be.
function(spdistal_together target)
  cmake_parse_arguments(ARG "" "" "ALONE" ${ARGN})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${SPDISTAL_TOGETHER} UNITY_BUILD_BATCH_SIZE 8)
  if(ARG_ALONE)
    file(GLOB alone ${ARG_ALONE})
    set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# spdistal_precompiled(TARGET LIKE target header...): the headers that nearly every file includes, read once for all targets that
# are compiled with the same flags. The target that the others are like comes first, and names headers of its own.
function(spdistal_precompiled target)
  cmake_parse_arguments(ARG "" "LIKE" "" ${ARGN})
  if(NOT SPDISTAL_PRECOMPILED)
    return()
  endif()
  if(NOT target STREQUAL ARG_LIKE)
    target_precompile_headers(${target} REUSE_FROM ${ARG_LIKE})
    return()
  endif()
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <atomic> <bit> <cmath> <complex> <cstdint> <cstring>
    <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <string> <string_view> <tuple>
    <type_traits> <utility> <variant> <vector> <fmt/format.h> ${ARG_UNPARSED_ARGUMENTS})
endfunction()
