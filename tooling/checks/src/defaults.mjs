import ts from 'typescript'

/**
 * Returns the numbers that a source text has as defaults of a name. A default is a member of an object (`{ name: 1 }`,
 * or `object.name` for a member of a constant), a default in a pattern or of a parameter (`name = 1`), or a constant.
 * It is also the fallback of an option (`options.name ?? 1`), or the last argument of a check (`check('name', 1)`).
 * @param {ts.SourceFile} source
 * @param {string} name
 * @returns {number[]}
 */
export function defaultsIn(source, name) {
  if (name.includes('.')) return numbers([memberOf(source, name)], source)
  /** @type {(ts.Expression | undefined)[]} */
  const found = []
  /** @param {ts.Node} node */
  const visit = (node) => {
    found.push(defaultOf(node, name))
    ts.forEachChild(node, visit)
  }
  visit(source)
  return numbers(found, source)
}

/**
 * @param {readonly (ts.Expression | undefined)[]} expressions
 * @param {ts.SourceFile} source
 */
function numbers(expressions, source) {
  return expressions
    .map((expression) => (expression === undefined ? undefined : evaluate(expression, source)))
    .filter((value) => value !== undefined)
}

/**
 * @param {ts.Node} node
 * @param {string} name
 * @returns {ts.Expression | undefined}
 */
function defaultOf(node, name) {
  if (
    ts.isPropertyAssignment(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isBindingElement(node)
  ) {
    const named = ts.isBindingElement(node) ? (node.propertyName ?? node.name) : node.name
    return named.getText() === name ? node.initializer : undefined
  }
  if (ts.isBinaryExpression(node)) return fallbackOf(node, name)
  return ts.isCallExpression(node) ? checkedValue(node, name) : undefined
}

/**
 * Returns the value that a call checks under a name. After an argument with a fallback, further arguments are bounds.
 * @param {ts.CallExpression} call
 * @param {string} [name]
 */
function checkedValue({ arguments: [first, ...rest] }, name) {
  if (first === undefined || !ts.isStringLiteral(first) || (name !== undefined && first.text !== name)) return undefined
  return rest.find((one) => ts.isBinaryExpression(one) && isFallback(one)) ?? rest.at(-1)
}

/**
 * @param {ts.BinaryExpression} node
 * @param {string} name
 */
function fallbackOf(node, name) {
  const { left, right } = node
  return isFallback(node) && ts.isPropertyAccessExpression(left) && left.name.text === name ? right : undefined
}

/** @param {ts.BinaryExpression} node */
function isFallback({ operatorToken }) {
  return operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken
}

/**
 * @param {ts.SourceFile} source
 * @param {string} path
 * @returns {ts.Expression | undefined}
 */
function memberOf(source, path) {
  const [object = '', ...names] = path.split('.')
  /** @type {ts.Expression | undefined} */
  let value = constantOf(source, object)
  for (const name of names) value = memberNamed(value, name)
  return value
}

/**
 * @param {ts.Expression | undefined} value
 * @param {string} name
 * @returns {ts.Expression | undefined}
 */
function memberNamed(value, name) {
  if (value === undefined) return undefined
  if (ts.isAsExpression(value) || ts.isSatisfiesExpression(value)) return memberNamed(value.expression, name)
  if (!ts.isObjectLiteralExpression(value)) return undefined
  const found = value.properties.find((property) => property.name?.getText() === name)
  return found !== undefined && ts.isPropertyAssignment(found) ? found.initializer : undefined
}

/**
 * Returns the value of a constant of a source text, or the default of a name within it.
 * @param {ts.SourceFile} source
 * @param {string} name
 * @returns {ts.Expression | undefined}
 */
function constantOf(source, name) {
  /** @type {ts.Expression | undefined} */
  let found
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (found !== undefined) return
    if ((ts.isVariableDeclaration(node) || ts.isBindingElement(node)) && node.name.getText() === name)
      found = node.initializer
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/**
 * Returns the number that an expression evaluates to, or undefined if it is not arithmetic over constants.
 * @param {ts.Expression} expression
 * @param {ts.SourceFile} source
 * @returns {number | undefined}
 */
function evaluate(expression, source) {
  if (ts.isNumericLiteral(expression)) return Number(expression.text.replaceAll('_', ''))
  if (ts.isParenthesizedExpression(expression)) return evaluate(expression.expression, source)
  if (ts.isBinaryExpression(expression)) return evaluateBinary(expression, source)
  if (ts.isIdentifier(expression)) return evaluateMaybe(constantOf(source, expression.text), source)
  if (ts.isPropertyAccessExpression(expression)) {
    const text = expression.getText()
    return text === 'Number.POSITIVE_INFINITY'
      ? Number.POSITIVE_INFINITY
      : evaluateMaybe(memberOf(source, text), source)
  }
  return ts.isCallExpression(expression) ? evaluateCall(expression, source) : undefined
}

/**
 * @param {ts.Expression | undefined} expression
 * @param {ts.SourceFile} source
 */
function evaluateMaybe(expression, source) {
  return expression === undefined ? undefined : evaluate(expression, source)
}

/** @type {ReadonlyMap<ts.SyntaxKind, (left: number, right: number) => number>} */
const operations = new Map([
  [ts.SyntaxKind.AsteriskToken, (left, right) => left * right],
  [ts.SyntaxKind.SlashToken, (left, right) => left / right],
  [ts.SyntaxKind.PlusToken, (left, right) => left + right],
])

/**
 * @param {ts.BinaryExpression} expression
 * @param {ts.SourceFile} source
 */
function evaluateBinary(expression, source) {
  const { left, operatorToken, right } = expression
  const second = evaluate(right, source)
  if (isFallback(expression)) return second
  const [operation, first] = [operations.get(operatorToken.kind), evaluate(left, source)]
  return operation === undefined || first === undefined || second === undefined ? undefined : operation(first, second)
}

/**
 * @param {ts.CallExpression} call
 * @param {ts.SourceFile} source
 */
function evaluateCall(call, source) {
  const values = call.arguments.map((one) => evaluate(one, source)).filter((value) => value !== undefined)
  const isWhole = values.length === call.arguments.length && values.length > 0
  const method = call.expression.getText()
  if (method === 'Math.ceil') return isWhole ? Math.ceil(values[0] ?? 0) : undefined
  if (method === 'Math.min') return isWhole ? Math.min(...values) : undefined
  return evaluateMaybe(checkedValue(call), source)
}
