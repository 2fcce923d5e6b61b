# The ROS 2 packages on PyPI export targets that still name include directories of the machine that built them
# (/opt/python/cp311-cp311/include/...), and CMake refuses a target whose include directory does not exist. This drops
# those directories once all targets are known, at the end of the calling directory. Where they exist, or on an ordinary
# ROS 2 installation, it changes nothing. Include it right after project().

function(_drop_foreign_include_directories)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(directories ${target} INTERFACE_INCLUDE_DIRECTORIES)
    if(NOT directories)
      continue()
    endif()
    set(kept "")
    foreach(directory IN LISTS directories)
      if(directory MATCHES "^/opt/python/" AND NOT EXISTS "${directory}")
        continue()
      endif()
      list(APPEND kept "${directory}")
    endforeach()
    if(NOT kept STREQUAL directories)
      set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${kept}")
    endif()
  endforeach()
endfunction()

cmake_language(DEFER CALL _drop_foreign_include_directories)
