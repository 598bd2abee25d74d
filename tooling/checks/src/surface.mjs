import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { openProgram } from './package-types.mjs'
import { listFiles } from './workspace.mjs'

/**
 * @typedef {import('./structure.mjs').Measured} Measured
 * @typedef {{ name: string, folder: string, parameter: number }} OptionsOf The function, its package, and the index of
 *   its parameter with the options.
 */

/** @type {readonly OptionsOf[]} */
const serverFunctions = [
  { name: 'createServer', folder: 'packages/server', parameter: 0 },
  { name: 'serveHttp', folder: 'packages/transport-http', parameter: 1 },
  { name: 'tasks', folder: 'packages/tasks', parameter: 0 },
  { name: 'legacy', folder: 'packages/legacy', parameter: 0 },
  { name: 'sealedState', folder: 'packages/state-codec', parameter: 0 },
]

/** @type {readonly OptionsOf[]} */
const otherFunctions = [
  { name: 'createClient', folder: 'packages/client', parameter: 1 },
  { name: 'connectHttp', folder: 'packages/transport-http', parameter: 1 },
  { name: 'protect', folder: 'packages/auth', parameter: 0 },
]

const source = /^packages\/[^/]+\/src\/.*(?<!\.test|\.d)\.ts$/

/** The functions whose options are summed, and those whose options are counted separately. */
const counted = { together: serverFunctions, alone: otherFunctions }

/**
 * Measures the public surface. It counts the options of the functions that every program calls, with nested ones, and
 * the distinct names that the entries of a package export. It takes seconds, because the compiler reads all packages.
 * @param {string} root
 * @param {{ together: readonly OptionsOf[], alone: readonly OptionsOf[] }} functions
 * @returns {Measured[]}
 */
export function measureSurface(root, { together, alone } = counted) {
  const files = listFiles(root).filter((file) => source.test(file))
  const program = openProgram(root, files)
  const rows = [...together, ...alone].map((one) => measureOptions(program, root, one))
  const sum = rows.slice(0, together.length).reduce((total, { value }) => total + value, 0)
  const names = together.map(({ name }) => name).join(', ')
  return [{ title: `options of ${names} together`, value: sum, details: [] }, ...rows, ...measureExports(program, root)]
}

/**
 * @param {ts.Program} program
 * @param {string} root
 * @param {OptionsOf} one
 * @returns {Measured}
 */
function measureOptions(program, root, { name, folder, parameter }) {
  const checker = program.getTypeChecker()
  const declared = findFunction(program, join(root, folder), name)
  const given = declared?.parameters[parameter]
  if (given === undefined) throw new Error(`${folder} has no function ${name} with ${parameter + 1} parameters`)
  const details = optionNames(checker.getTypeAtLocation(given), { checker, node: given, prefix: '' })
  return { title: `options of ${name}`, value: details.length, details }
}

/**
 * Returns the exported function with a name. For overloads it is the last declaration, which has the widest options.
 * @param {ts.Program} program
 * @param {string} folder
 * @param {string} name
 */
function findFunction(program, folder, name) {
  const files = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(`${folder}/src/`))
  const found = files
    .flatMap(({ statements }) => [...statements])
    .filter((statement) => ts.isFunctionDeclaration(statement))
    .filter((statement) => statement.name?.text === name && isExported(statement))
  return found.findLast((statement) => !statement.getSourceFile().fileName.includes('/client')) ?? found.at(-1)
}

/** @param {ts.FunctionDeclaration} node */
function isExported({ modifiers }) {
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false
}

/**
 * Lists the options of a type. An object of the packages with only optional data members counts as its members. A value
 * that the protocol defines, such as capabilities, counts as one option.
 * @param {ts.Type} type
 * @param {{ checker: ts.TypeChecker, node: ts.Node, prefix: string }} place
 * @returns {string[]}
 */
function optionNames(type, { checker, node, prefix }) {
  const properties = (type.isUnion() ? type.types : [type]).flatMap((part) => checker.getPropertiesOfType(part))
  const byName = new Map(properties.map((property) => [property.name, property]))
  return [...byName.values()].flatMap((property) => {
    const name = `${prefix}${property.name}`
    const groups = groupsOf(checker.getTypeOfSymbolAtLocation(property, node), checker)
    if (groups.length === 0) return [name]
    return groups.flatMap((group) => optionNames(group, { checker, node, prefix: `${name}.` }))
  })
}

/**
 * @param {ts.Type} type
 * @param {ts.TypeChecker} checker
 */
function groupsOf(type, checker) {
  const parts = type.isUnion() ? type.types : [type]
  return parts.filter((part) => {
    const declared = part.symbol?.declarations?.[0]
    if (declared === undefined || !/\/packages\/(?!schema\/)[^/]+\/src\//.test(declared.getSourceFile().fileName))
      return false
    const members = checker.getPropertiesOfType(part)
    if (members.length === 0 || part.getCallSignatures().length > 0) return false
    return members.every((member) => {
      const isOptional = (member.flags & ts.SymbolFlags.Optional) !== 0
      return isOptional && (member.flags & ts.SymbolFlags.Method) === 0
    })
  })
}

/**
 * @param {ts.Program} program
 * @param {string} root
 * @returns {Measured[]}
 */
function measureExports(program, root) {
  const checker = program.getTypeChecker()
  const manifests = listFiles(root).filter((file) => /^packages\/[^/]+\/package\.json$/.test(file))
  return manifests.flatMap((file) => {
    const folder = file.slice(0, -'/package.json'.length)
    const { name, exports } = JSON.parse(readFileSync(join(root, file), 'utf8'))
    const [values, types] = [new Set(), new Set()]
    for (const entry of Object.values(exports)) {
      const module = program.getSourceFile(join(root, folder, entry.default ?? ''))
      const symbol = module && checker.getSymbolAtLocation(module)
      for (const exported of symbol ? checker.getExportsOfModule(symbol) : []) {
        const target = (exported.flags & ts.SymbolFlags.Alias) === 0 ? exported : checker.getAliasedSymbol(exported)
        const isValue = (target.flags & ts.SymbolFlags.Value) !== 0
        ;(isValue ? values : types).add(exported.name)
      }
    }
    return [
      { title: `values that ${name} exports`, value: values.size, details: [...values].toSorted() },
      { title: `types that ${name} exports`, value: types.size, details: [...types].toSorted() },
    ]
  })
}
