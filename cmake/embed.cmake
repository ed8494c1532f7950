# cmake -DINPUT=file -DOUTPUT=file.cpp -DFUNCTION=name -P embed.cmake
# Writes a C++ source whose function spdistal::codegen::<FUNCTION>() returns the text of INPUT.
file(READ ${INPUT} text)
file(WRITE ${OUTPUT} "#include <string_view>\n\nnamespace spdistal::codegen {\n\nstd::string_view ${FUNCTION}();\nstd::string_view ${FUNCTION}() {\n  return R\"embedded(${text})embedded\";\n}\n\n}  // namespace spdistal::codegen\n")
