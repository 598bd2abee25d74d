import { join } from 'node:path'
import ts from 'typescript'
import { parseSource } from './syntax.mjs'
import { packageSource, listFiles } from './workspace.mjs'

/** @type {ts.CompilerOptions} */
const options = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  allowImportingTsExtensions: true,
  declaration: true,
  emitDeclarationOnly: true,
  strict: true,
  skipLibCheck: true,
  types: ['node'],
  typeRoots: [join(import.meta.dirname, '../node_modules/@types')],
}

/** @type {Map<string, ts.Program>} */
const programs = new Map()

/**
 * Opens the sources of all packages as one program. The checks of a run share it.
 * @param {string} root
 * @returns {ts.Program}
 */
export function openProgram(root) {
  const opened = programs.get(root)
  if (opened !== undefined) return opened
  const host = ts.createCompilerHost(options)
  const read = host.getSourceFile
  host.getSourceFile = (file, version, ...rest) =>
    packageSource.test(file.slice(root.length + 1)) ? parseSource(file, version) : read(file, version, ...rest)
  const files = listFiles(root).filter((file) => packageSource.test(file))
  const program = ts.createProgram({ rootNames: files.map((file) => join(root, file)), options, host })
  programs.set(root, program)
  return program
}
