import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { openProgram } from './program.mjs'
import { problem } from './report.mjs'
import { pick } from './resolve.mjs'
import { listPackages, readText } from './workspace.mjs'

/**
 * @typedef {import('./workspace.mjs').Package} Package
 * @typedef {{ name: string, origin: string, text: string }} Exported `origin` is the package that declares it.
 * @typedef {{ program: ts.Program, packages: readonly Package[], emitted: Map<string, ts.SourceFile> }} Tree
 */

const width = 120
const printer = ts.createPrinter({ removeComments: true })

/**
 * Compares the `api.md` of each package with the sources. With `--write`, it is written instead.
 * @param {string} root
 * @param {readonly string[]} flags
 * @returns {string[]}
 */
export function checkApi(root, flags = []) {
  const packages = listPackages(root)
  const published = packages.filter(({ manifest }) => manifest.private !== true)
  if (published.length === 0) return []
  /** @type {Tree} */
  const tree = { program: openProgram(root), packages, emitted: new Map() }
  return published.flatMap((one) => {
    const text = apiText(tree, one)
    if (readText(one.directory, 'api.md') === text) return []
    if (flags.includes('--write')) {
      writeFileSync(join(one.directory, 'api.md'), text)
      return []
    }
    return [problem(`${one.folder}/api.md differs from what the package exports`, 'run pnpm api, and commit the file')]
  })
}

/**
 * Draws the entries of a package. A name is drawn at its first entry. What only Node has is drawn below an entry.
 * @param {Tree} tree
 * @param {Package} one
 */
function apiText(tree, one) {
  /** @type {Set<string>} */
  const drawn = new Set()
  const sections = Object.entries(one.manifest.exports ?? {}).flatMap(([entry, target]) => {
    const files = [pick(target, []), pick(target, ['node'])].filter((file) => file?.startsWith('./src/'))
    const titles = [`${one.name}${entry.slice(1)}`, `${one.name}${entry.slice(1)}, on Node alone`]
    return [...new Set(files)].flatMap((file, index) => {
      const exported = exportsOf(tree, join(one.directory, file ?? ''))
      const fresh = exported.filter(({ name, text }) => !drawn.has(`${name} ${text}`))
      for (const { name, text } of fresh) drawn.add(`${name} ${text}`)
      const repeated = index === 0 ? exported.filter((each) => !fresh.includes(each)) : []
      return fresh.length + repeated.length === 0 ? [] : [sectionOf(one, titles[index] ?? '', { fresh, repeated })]
    })
  })
  const head = `# The public surface of ${one.name}\n\nDrawn by \`pnpm api\` from the sources; a change here is a change for users.\n`
  return [head, ...sections].join('\n')
}

/**
 * @param {Package} one
 * @param {string} title
 * @param {{ fresh: readonly Exported[], repeated: readonly Exported[] }} exported
 */
function sectionOf(one, title, { fresh, repeated }) {
  const own = fresh.filter(({ origin }) => origin === one.name)
  const origins = [...new Set(fresh.map(({ origin }) => origin))].filter((origin) => origin !== one.name).toSorted()
  const paragraphs = [
    `## ${title}`,
    ...(repeated.length === 0 ? [] : [`Also ${repeated.map(({ name }) => name).join(', ')}.`]),
    ...origins.map((origin) => {
      const names = fresh.filter((each) => each.origin === origin).map(({ name }) => name)
      return `From ${origin}: ${names.join(', ')}.`
    }),
    ...(own.length === 0 ? [] : [`\`\`\`ts\n${own.map(({ text }) => text).join('\n')}\n\`\`\``]),
  ]
  return `${paragraphs.join('\n\n')}\n`
}

/** @param {Tree} tree @param {string} file @returns {Exported[]} */
function exportsOf(tree, file) {
  const checker = tree.program.getTypeChecker()
  const source = tree.program.getSourceFile(file)
  const module = source && checker.getSymbolAtLocation(source)
  return (module === undefined ? [] : checker.getExportsOfModule(module))
    .map((symbol) => {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
      const declaring = target.declarations?.[0]?.getSourceFile().fileName ?? ''
      const origin = originOf(tree, declaring)
      return { name: symbol.name, origin: origin.name, text: origin.isOwn ? drawnOf(tree, target, symbol.name) : '' }
    })
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
}

/** @param {Tree} tree @param {string} file */
function originOf({ packages }, file) {
  const owner = packages.find(({ directory }) => file.startsWith(`${directory}/`) && !file.includes('/node_modules/'))
  if (owner !== undefined) return { name: owner.name, isOwn: true }
  const [, name = 'another package'] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file) ?? []
  return { name, isOwn: false }
}

/**
 * Draws the declarations of a symbol as the compiler emits them: without bodies and private members.
 * @param {Tree} tree
 * @param {ts.Symbol} symbol
 * @param {string} name
 */
function drawnOf(tree, symbol, name) {
  const files = new Set((symbol.declarations ?? []).map((node) => node.getSourceFile()))
  return [...files]
    .flatMap((file) => {
      const emitted = emit(tree, file)
      return emitted.statements
        .filter((statement) => namesOf(statement).includes(symbol.name))
        .map((statement) => drawn(statement, emitted))
        .map((text) => (symbol.name === name ? text : `/* exported as ${name} */ ${text}`))
    })
    .join('\n')
}

/** @param {Tree} tree @param {ts.SourceFile} file */
function emit({ program, emitted }, file) {
  const known = emitted.get(file.fileName)
  if (known !== undefined) return known
  let text = ''
  program.emit(file, (_, written) => (text = written), undefined, true)
  const parsed = ts.createSourceFile(file.fileName, text, ts.ScriptTarget.Latest, true)
  emitted.set(file.fileName, parsed)
  return parsed
}

/** @param {ts.Statement} node @returns {string[]} */
function namesOf(node) {
  if (ts.isVariableStatement(node)) return node.declarationList.declarations.map(({ name }) => name.getText())
  const { name } = /** @type {{ name?: ts.Node }} */ (/** @type {unknown} */ (node))
  return name === undefined ? [] : [name.getText()]
}

/**
 * Draws a declaration in one line. An object that is too long for one has a line for each member.
 * @param {ts.Statement} node
 * @param {ts.SourceFile} source
 */
function drawn(node, source) {
  /** @param {ts.Node} part */
  const inline = (part) =>
    printer
      .printNode(ts.EmitHint.Unspecified, part, source)
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/;(?= \}|$)/g, '')
      .replaceAll(/(?<![=<>]) (?=\|)|(?<=[(<]) \| /g, (found) => (found === ' ' ? ' ' : ''))
  const line = inline(node).replace(/^export (?:declare )?|^declare /, '')
  const members = membersOf(node)
  if (line.length <= width || members.length < 2) return line
  const first = inline(members[0] ?? node)
  const head = line.slice(0, line.indexOf(first)).trimEnd()
  return [head, ...members.map((member) => `  ${inline(member)}`), '}'].join('\n')
}

/** @param {ts.Statement} node @returns {readonly ts.Node[]} */
function membersOf(node) {
  if (ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node)) return node.members
  return ts.isTypeAliasDeclaration(node) && ts.isTypeLiteralNode(node.type) ? node.type.members : []
}
