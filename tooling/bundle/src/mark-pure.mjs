import { parse } from 'acorn'

/**
 * @typedef {{ start: number, end: number, text: string }} Edit
 * @typedef {import('acorn').AnyNode} Node
 */

/** Node types that run code in place; a spread may run a getter. */
const running = new Set([
  'CallExpression',
  'NewExpression',
  'TaggedTemplateExpression',
  'ImportExpression',
  'SpreadElement',
])
const waiting = new Set(['AwaitExpression'])

/**
 * Says of a module what `"sideEffects": false` says of its package, in the form that bundlers of applications read
 * within a file: what a top-level variable is set to may be left out with the variable, and no file is imported for
 * what it does. Nothing moves to another line, so that a source map still fits.
 * @param {string} source JavaScript.
 * @returns {string}
 */
export function markPure(source) {
  const { body } = parse(source, { ecmaVersion: 'latest', sourceType: 'module' })
  const edits = body.flatMap((statement, index) => {
    const namespace = pureNamespace(statement, body[index + 1])
    if (namespace !== undefined) return namespace
    if (statement.type === 'VariableDeclaration') return pureInitializers(statement, source)
    return statement.type === 'ImportDeclaration' ? bareImport(statement) : []
  })
  return edits.reduceRight((text, edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end), source)
}

/**
 * The whole value becomes one call that is marked. A mark in front of every call inside would not do, since bundlers
 * keep the spread of an object.
 * @param {import('acorn').VariableDeclaration} statement
 * @param {string} source
 * @returns {Edit[]}
 */
function pureInitializers({ declarations }, source) {
  return declarations.flatMap(({ id, init }) => {
    if (!init || !holds(init, running) || holds(init, waiting)) return []
    if (source.slice(id.end, init.start).includes('@__PURE__')) return []
    const { start, end } = init
    return [{ start, end, text: `/* @__PURE__ */ (() => (${source.slice(start, end)}))()` }]
  })
}

/**
 * esbuild writes an exported namespace as an empty object and a call that fills it, which bundlers keep. Both become
 * one call that is marked.
 * @param {Node} statement
 * @param {Node | undefined} next
 * @returns {Edit[] | undefined}
 */
function pureNamespace(statement, next) {
  const filled = emptyObject(statement)
  const call = next?.type === 'ExpressionStatement' ? next.expression : undefined
  const target = call && exportTarget(call)
  if (!filled || !call || !next || target?.name !== filled.name) return undefined
  return [
    { start: filled.start, end: statement.end, text: '/* @__PURE__ */ ((target) => (' },
    { start: target.start, end: target.end, text: 'target' },
    { start: call.end, end: next.end, text: ', target))({});' },
  ]
}

/**
 * Returns the name of a variable that a statement sets to an empty object, and the start of that object.
 * @param {Node} statement
 */
function emptyObject(statement) {
  const { id, init } = (statement.type === 'VariableDeclaration' && statement.declarations[0]) || {}
  if (id?.type !== 'Identifier' || init?.type !== 'ObjectExpression') return undefined
  return init.properties.length === 0 ? { name: id.name, start: init.start } : undefined
}

/**
 * Returns the name of the object that a call of esbuild's `__export` fills.
 * @param {Node} call
 */
function exportTarget(call) {
  if (call.type !== 'CallExpression' || call.callee.type !== 'Identifier' || call.callee.name !== '__export')
    return undefined
  const [target] = call.arguments
  return target?.type === 'Identifier' ? target : undefined
}

/**
 * esbuild keeps the order in which files run by importing those of which it needs no name.
 * @param {import('acorn').ImportDeclaration} statement
 * @returns {Edit[]}
 */
function bareImport({ specifiers, source, start, end }) {
  const isOurs = typeof source.value === 'string' && source.value.startsWith('.')
  return specifiers.length === 0 && isOurs ? [{ start, end, text: '' }] : []
}

/**
 * Tells if a node, or one inside it that runs with it, is of some types.
 * @param {Node} node
 * @param {ReadonlySet<string>} types
 * @returns {boolean}
 */
function holds(node, types) {
  if (node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression') return false
  return (
    types.has(node.type) ||
    Object.values(node)
      .flat()
      .some((child) => isNode(child) && holds(child, types))
  )
}

/**
 * @param {unknown} value
 * @returns {value is Node}
 */
function isNode(value) {
  return typeof value === 'object' && value !== null && 'type' in value
}
