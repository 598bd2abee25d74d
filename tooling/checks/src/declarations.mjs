import { join, sep } from 'node:path'
import ts from 'typescript'
import { pick } from './resolve.mjs'

/**
 * @typedef {import('./workspace.mjs').Package} Package
 * @typedef {{ name: string, text: string, declarations: readonly ts.Declaration[] }} Exported
 * @typedef {{ specifier: string, file: string, exported: readonly Exported[] }} Entry
 * @typedef {{ checker: ts.TypeChecker, packages: readonly Package[], public: ReadonlySet<ts.Symbol> }} Surface
 */

/**
 * Returns the entry points of a published manifest with their built declarations. An entry has two results if its
 * declarations on Node differ.
 * @param {Package} one
 * @returns {{ specifier: string, file: string }[]}
 */
export function builtEntries(one) {
  return Object.entries(one.manifest.publishConfig?.exports ?? {}).flatMap(([entry, target]) => {
    const specifier = `${one.name}${entry.slice(1)}`
    const everywhere = pick(target, ['types'])
    const onNode = pick(target, ['node', 'types'])
    const found = [{ specifier, types: everywhere }]
    if (onNode !== everywhere) found.push({ specifier: `${specifier} on Node`, types: onNode })
    return found.flatMap(({ specifier: name, types }) =>
      types?.endsWith('.d.ts') ? [{ specifier: name, file: join(one.directory, types) }] : [],
    )
  })
}

/**
 * Reads the built declarations of all packages as one program.
 * @param {string} root
 * @param {readonly Package[]} packages
 */
export function readDeclarations(root, packages) {
  const program = ts.createProgram({
    rootNames: packages.flatMap(builtEntries).map(({ file }) => file),
    options: {
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      target: ts.ScriptTarget.ES2023,
      customConditions: ['dist'],
      typeRoots: [join(root, 'node_modules/@types')],
      types: ['node'],
      strict: true,
      skipLibCheck: true,
      noEmit: true,
    },
  })
  const checker = program.getTypeChecker()
  const entries = new Map(
    packages.map((one) => [
      one,
      builtEntries(one).map((entry) => ({ ...entry, exported: exportsOf(program, entry.file) })),
    ]),
  )
  const all = [...entries.values()]
    .flat()
    .flatMap(({ file }) => symbolsOf(program, file).map((symbol) => target(checker, symbol)))
  return { entries, surface: { checker, packages, public: new Set(all) } }
}

/**
 * @param {ts.Program} program
 * @param {string} file
 */
function symbolsOf(program, file) {
  const source = program.getSourceFile(file)
  const module = source && program.getTypeChecker().getSymbolAtLocation(source)
  return module === undefined ? [] : program.getTypeChecker().getExportsOfModule(module)
}

/**
 * @param {ts.TypeChecker} checker
 * @param {ts.Symbol} symbol
 */
function target(checker, symbol) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

/**
 * @param {ts.Program} program
 * @param {string} file
 * @returns {Exported[]}
 */
function exportsOf(program, file) {
  const checker = program.getTypeChecker()
  return symbolsOf(program, file)
    .flatMap((symbol) => {
      const declarations = target(checker, symbol).declarations ?? []
      const [first] = declarations
      // The declaration of `export * as name` is a file, whose exports are the members of the namespace.
      if (first !== undefined && ts.isSourceFile(first)) {
        return exportsOf(program, first.fileName).map((one) => ({ ...one, name: `${symbol.name}.${one.name}` }))
      }
      const text = declarations.map((node) => printed(symbol.name, node)).join('\n')
      return [{ name: symbol.name, text, declarations }]
    })
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
}

const printer = ts.createPrinter({ removeComments: true })

/**
 * @param {string} name
 * @param {ts.Declaration} node
 */
function printed(name, node) {
  const source = node.getSourceFile()
  const text = printer
    .printNode(ts.EmitHint.Unspecified, node, source)
    .replace(/^export /, '')
    .replace(/^declare /, '')
  const own = ts.isVariableDeclaration(node) ? `const ${text}` : text
  const declared = ts.getNameOfDeclaration(node)?.getText(source)
  return declared === undefined || declared === name ? own : `/* exported as ${name} */ ${own}`
}

/**
 * Returns the types that a declaration mentions but that no entry point of their package exports.
 * @param {Surface} surface
 * @param {Exported} exported
 * @returns {string[]}
 */
export function hiddenTypes(surface, exported) {
  /** @type {Set<string>} */
  const hidden = new Set()
  /** @param {ts.Node} node */
  const visit = (node) => {
    const name = mentioned(node)
    const symbol = name && surface.checker.getSymbolAtLocation(name)
    if (symbol !== undefined && isHidden(surface, target(surface.checker, symbol))) hidden.add(symbol.name)
    ts.forEachChild(node, visit)
  }
  for (const declaration of exported.declarations) visit(declaration)
  return [...hidden]
}

/**
 * @param {ts.Node} node
 * @returns {ts.Node | undefined}
 */
function mentioned(node) {
  if (ts.isTypeReferenceNode(node)) return node.typeName
  if (ts.isTypeQueryNode(node)) return node.exprName
  if (ts.isExpressionWithTypeArguments(node)) return node.expression
  if (ts.isImportTypeNode(node)) return node.qualifier
  return undefined
}

/**
 * @param {Surface} surface
 * @param {ts.Symbol} symbol
 */
function isHidden({ packages, public: known }, symbol) {
  const declaration = symbol.declarations?.[0]
  if (declaration === undefined || known.has(symbol) || !isTopLevel(declaration)) return false
  const { fileName } = declaration.getSourceFile()
  return packages.some(({ directory }) => fileName.startsWith(`${directory.replaceAll(sep, '/')}/dist/`))
}

/** @param {ts.Declaration} node */
function isTopLevel(node) {
  const holder = ts.isVariableDeclaration(node) ? node.parent.parent.parent : node.parent
  return ts.isSourceFile(holder)
}
