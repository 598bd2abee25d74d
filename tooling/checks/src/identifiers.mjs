import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { forEachNode, parseSource } from './syntax.mjs'
import { listFiles, readText } from './workspace.mjs'

/**
 * @typedef {{ names: Set<string>, declared: Set<string>, globals: Set<string> }} Names `names` has the identifiers and
 *   the words of the strings of every source. `declared` has the top-level declarations of the packages' modules, the
 *   members of their types and the values of their unions. `globals` has the declarations of the libraries.
 * @typedef {{ names: Set<string>, statements: readonly { pos: number, end: number, names: Set<string> }[] }} FileNames
 *   `names` has the names that every comment of a file may use: its imports, declarations and strings. Each statement
 *   has the names that only its comments may use.
 */

const sourceFile = /^(?:packages|apps|tooling)\/(?!checks\/test\/)(?!.*\/dist\/).*\.(?:ts|tsx|mts|mjs|js|jsx)$/
const isShipped = /^(?:packages\/[^/]+(?:\/web)?|tooling\/examples)\/src\/.*(?<!\.test)\.ts$/
const dataFile = /\.(?:json|ya?ml|cfg|conf|sql|html|css|tsv)$|(?:^|\/)(?:Dockerfile|run)$/
const libraryDeclaration = /\b(?:function|var|const|class|interface|type|namespace) ([A-Za-z_$][\w$]*)/g
const word = /[A-Za-z_$][\w$]*/g

/**
 * Collects the names that texts may use: those of the sources, of TypeScript's libraries and of Node.
 * @param {string} root
 * @returns {Names}
 */
export function collectNames(root) {
  /** @type {Names} */
  const found = { names: new Set(), declared: new Set(), globals: new Set() }
  for (const file of listFiles(root)) {
    if (sourceFile.test(file))
      addSource(parseSource(join(root, file)), isShipped.test(file) ? found : { ...found, declared: new Set() })
    else if (dataFile.test(file)) addWords(readText(root, file), found.names)
  }
  for (const file of libraryFiles()) {
    const text = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    addWords(text, found.names)
    for (const [, name = ''] of text.matchAll(libraryDeclaration)) found.globals.add(name)
  }
  return found
}

/**
 * Collects the names that the comments of one file may use.
 * @param {ts.SourceFile} source
 * @returns {FileNames}
 */
export function namesOfFile(source) {
  /** @type {Set<string>} */
  const names = new Set(source.statements.flatMap(declaredBy))
  const statements = source.statements.map((statement) => {
    const own = ts.isImportDeclaration(statement) ? names : new Set()
    forEachName(statement, (name, isText) => (isText ? names : own).add(name))
    return { pos: statement.pos, end: statement.end, names: own }
  })
  return { names, statements }
}

/** @param {ts.SourceFile} source @param {Names} found */
function addSource(source, { names, declared }) {
  forEachName(source, (name) => names.add(name))
  for (const name of source.statements.flatMap(declaredBy)) declared.add(name)
  forEachNode(source, (node) => {
    if (isMember(node) && node.name !== undefined) declared.add(node.name.getText(source).replaceAll(/['"]/g, ''))
    if (ts.isLiteralTypeNode(node) && ts.isStringLiteral(node.literal)) declared.add(node.literal.text)
  })
}

/**
 * Returns true for a member of a type, a class or an object.
 * @param {ts.Node} node
 * @returns {node is ts.TypeElement | ts.ClassElement | ts.ObjectLiteralElement}
 */
function isMember(node) {
  return ts.isTypeElement(node) || ts.isClassElement(node) || ts.isObjectLiteralElement(node)
}

/** @param {ts.Node} root @param {(name: string, isText: boolean) => void} visitor */
function forEachName(root, visitor) {
  forEachNode(root, (node) => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) visitor(node.text.replace('#', ''), false)
    else if (isText(node)) for (const [found] of node.getText().matchAll(word)) visitor(found, true)
  })
}

/** @param {ts.Node} node */
function isText(node) {
  return (
    ts.isStringLiteralLike(node) ||
    ts.isTemplateHead(node) ||
    ts.isTemplateMiddleOrTemplateTail(node) ||
    ts.isJsxText(node) ||
    ts.isRegularExpressionLiteral(node)
  )
}

/** @param {ts.Statement} statement */
function declaredBy(statement) {
  const declarations = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement]
  return declarations.flatMap((node) => {
    const name = ts.getNameOfDeclaration(/** @type {ts.Declaration} */ (node))
    return name !== undefined && ts.isIdentifier(name) ? [name.text] : []
  })
}

/** @param {string} text @param {Set<string>} names */
function addWords(text, names) {
  for (const [found] of text.matchAll(word)) names.add(found)
}

function libraryFiles() {
  const require = createRequire(import.meta.url)
  return ['typescript', '@types/node/package.json'].flatMap((name) => {
    const folder = dirname(require.resolve(name))
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => (name === 'typescript' ? /^lib\..*\.d\.ts$/ : /\.d\.ts$/).test(file))
      .map((file) => join(folder, file))
  })
}
