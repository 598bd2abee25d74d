import { parse } from 'acorn'

/**
 * @typedef {{ start: number, end: number, text: string }} Edit
 * @typedef {import('acorn').AnyNode} Node
 */

/** Types of nodes for which bundlers keep an unused value. A spread, a member or an operator may call a function. */
const effectful = new Set([
  'CallExpression',
  'NewExpression',
  'TaggedTemplateExpression',
  'TemplateLiteral',
  'ImportExpression',
  'SpreadElement',
  'MemberExpression',
  'BinaryExpression',
])
const awaited = new Set(['AwaitExpression'])

/**
 * Marks a module as free of side effects, as `"sideEffects": false` does for a package, with annotations that bundlers
 * read within a file. A bundler may then drop an unused top-level variable with its initializer. Imports without a name
 * are removed. No code moves to another line, so that the source map remains valid.
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
 * Wraps the whole value in one annotated call. An annotation of each call inside is not enough, because bundlers keep
 * the spread of an object.
 * @param {import('acorn').VariableDeclaration} statement
 * @param {string} source
 * @returns {Edit[]}
 */
function pureInitializers({ declarations }, source) {
  return declarations.flatMap(({ id, init }) => {
    if (!init || contains(init, awaited)) return []
    // An annotated call has no effect of its own. Its arguments may have one.
    const isAnnotated = source.slice(id.end, init.start).includes('@__PURE__')
    const evaluated = isAnnotated && 'arguments' in init ? init.arguments : [init]
    if (!evaluated.some((part) => contains(part, effectful))) return []
    const { start, end } = init
    return [{ start, end, text: `/* @__PURE__ */ (() => (${source.slice(start, end)}))()` }]
  })
}

/**
 * Replaces the form of an exported namespace. esbuild writes it as an empty object and a call that fills it, which
 * bundlers keep. Both become one annotated call.
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
 * Removes an import without a name. esbuild writes such imports to preserve the order in which files run.
 * @param {import('acorn').ImportDeclaration} statement
 * @returns {Edit[]}
 */
function bareImport({ specifiers, source, start, end }) {
  const isLocal = typeof source.value === 'string' && source.value.startsWith('.')
  return specifiers.length === 0 && isLocal ? [{ start, end, text: '' }] : []
}

/**
 * Returns true if a node, or a node inside it that is evaluated with it, has one of the types.
 * @param {Node} node
 * @param {ReadonlySet<string>} types
 * @returns {boolean}
 */
function contains(node, types) {
  if (node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression') return false
  // A field of an instance is evaluated with each of them. Wrapped without need, the class would lose its name.
  if (node.type === 'PropertyDefinition' && !node.static && !node.computed) return false
  return (
    types.has(node.type) ||
    Object.values(node)
      .flat()
      .some((child) => isNode(child) && contains(child, types))
  )
}

/**
 * @param {unknown} value
 * @returns {value is Node}
 */
function isNode(value) {
  return typeof value === 'object' && value !== null && 'type' in value
}
