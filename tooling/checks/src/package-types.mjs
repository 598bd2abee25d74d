import { join } from 'node:path'
import ts from 'typescript'
import { listFiles } from './workspace.mjs'

/**
 * @typedef {{ texts: Set<string>, isOpen: boolean }} Values `texts` are the string values of a member. An `isOpen`
 *   member may also have other values.
 * @typedef {{ members: Map<string, Values>, types: Map<string, Set<string>>, options: Map<string, Set<string>> }}
 *   PackageTypes `members` has the members of every type of the packages, `types` the members of a type by its name,
 *   and `options` the keys of a function's object arguments by its name.
 */

const source = /^packages\/[^/]+\/src\/.*(?<!\.test|\.d)\.ts$/

/**
 * Reads the types of the packages with the compiler.
 * @param {string} root
 * @returns {PackageTypes}
 */
export function readPackageTypes(root) {
  const files = listFiles(root).filter((file) => source.test(file))
  const program = openProgram(root, files)
  const checker = program.getTypeChecker()
  /** @type {PackageTypes} */
  const found = { members: new Map(), types: new Map(), options: new Map() }
  for (const file of files) {
    const parsed = program.getSourceFile(join(root, file))
    if (parsed !== undefined) addFile(parsed, checker, found)
  }
  return found
}

/**
 * Opens source files with the compiler's options of the packages.
 * @param {string} root
 * @param {readonly string[]} files
 */
export function openProgram(root, files) {
  return ts.createProgram(
    files.map((file) => join(root, file)),
    {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      allowImportingTsExtensions: true,
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: ['node'],
      typeRoots: [join(import.meta.dirname, '../node_modules/@types')],
    },
  )
}

/**
 * @param {ts.SourceFile} parsed
 * @param {ts.TypeChecker} checker
 * @param {PackageTypes} found
 */
function addFile(parsed, checker, found) {
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isTypeElement(node) || ts.isClassElement(node)) addMember(node, checker, found.members)
    else if (ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node) || ts.isTypeAliasDeclaration(node)) {
      if (node.name !== undefined) addNames(found.types, node.name.text, membersOf(checker.getTypeAtLocation(node)))
    } else if (ts.isFunctionDeclaration(node) && node.name !== undefined) {
      const given = node.parameters.flatMap((parameter) => membersOf(checker.getTypeAtLocation(parameter)))
      addNames(found.options, node.name.text, given)
    }
    ts.forEachChild(node, visit)
  }
  visit(parsed)
}

/**
 * @param {ts.TypeElement | ts.ClassElement} node
 * @param {ts.TypeChecker} checker
 * @param {Map<string, Values>} members
 */
function addMember(node, checker, members) {
  const { name } = node
  if (name === undefined || !(ts.isIdentifier(name) || ts.isStringLiteral(name))) return
  const values = members.get(name.text) ?? { texts: new Set(), isOpen: false }
  members.set(name.text, values)
  for (const type of partsOf(checker.getTypeAtLocation(node))) {
    if (type.isStringLiteral()) values.texts.add(type.value)
    else if ((type.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.BooleanLike | ts.TypeFlags.NumberLike)) === 0) {
      values.isOpen = true
    }
  }
}

/** @param {ts.Type} type */
function membersOf(type) {
  return partsOf(type)
    .filter(({ flags }) => (flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) !== 0)
    .flatMap((part) => part.getProperties().map(({ name }) => name))
}

/** @param {ts.Type} type */
function partsOf(type) {
  return type.isUnion() ? type.types : [type]
}

/**
 * @param {Map<string, Set<string>>} map
 * @param {string} key
 * @param {readonly string[]} names
 */
function addNames(map, key, names) {
  const all = map.get(key) ?? new Set()
  for (const name of names) all.add(name)
  map.set(key, all)
}
