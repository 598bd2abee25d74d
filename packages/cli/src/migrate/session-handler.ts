import { Node, SyntaxKind } from 'ts-morph'
import type { Rewriting } from './rewriting.ts'
import { constantOf, type FunctionNode, isMemberName, unwrap } from './syntax.ts'

/** The globals that a listener may use. */
const plainGlobals: ReadonlySet<string> = new Set([
  'console',
  'undefined',
  'String',
  'Boolean',
  'JSON',
  'Date',
  'crypto',
  'randomUUID',
])

/** What a listener may call of its response. Anything else, such as a header of its own, would be lost. */
const plainResponseCalls: ReadonlySet<string> = new Set([
  'status',
  'json',
  'send',
  'end',
  'on',
  'once',
  'sendStatus',
  'writeHead',
])

/**
 * Returns true if a request listener does nothing but to keep sessions, to pass requests to transports, and to answer those
 * without a session. Only then does `nodeHandler` do the same.
 */
export function isSessionHandler(rewriting: Rewriting, handler: FunctionNode): boolean {
  return (
    handler.getDescendantsOfKind(SyntaxKind.Identifier).every((name) => isPlainName(rewriting, handler, name)) &&
    handler.getDescendantsOfKind(SyntaxKind.CallExpression).every((call) => isPlainCall(handler, call.getExpression()))
  )
}

function isPlainName(rewriting: Rewriting, handler: FunctionNode, name: Node): boolean {
  if (isMemberName(name) || name.getFirstAncestorByKind(SyntaxKind.TypeReference) !== undefined) return true
  const text = name.getText()
  if (rewriting.sdkNames.has(text) || plainGlobals.has(text)) return true
  const declared = name.getSymbol()?.getDeclarations()[0]
  if (declared === undefined) return false
  return isInside(declared, handler) || isSessionMap(name) || isServerSource(rewriting, name)
}

function isInside(node: Node, outer: Node): boolean {
  return node.getStart() >= outer.getStart() && node.getEnd() <= outer.getEnd()
}

function isSessionMap(name: Node): boolean {
  const initializer = constantOf(name)?.getInitializer()
  const value = initializer === undefined ? undefined : unwrap(initializer)
  const isEmptyObject = Node.isObjectLiteralExpression(value) && value.getProperties().length === 0
  return isEmptyObject || (Node.isNewExpression(value) && value.getExpression().getText() === 'Map')
}

/** Returns true for the server, or for the function that creates it. */
function isServerSource(rewriting: Rewriting, name: Node): boolean {
  if (!Node.isIdentifier(name)) return false
  return name
    .getDefinitionNodes()
    .some((declared) =>
      declared
        .getDescendantsOfKind(SyntaxKind.NewExpression)
        .some((created) => rewriting.sdkNames.get(created.getExpression().getText()) === 'McpServer'),
    )
}

function isPlainCall(handler: FunctionNode, callee: Node): boolean {
  if (!Node.isPropertyAccessExpression(callee)) return true
  const response = handler.getParameters()[1]?.getName()
  const [root = ''] = callee.getText().split(/[^\w$]/)
  return root !== response || plainResponseCalls.has(callee.getName())
}

/** Returns the text of the server that a listener connects to its transport. */
export function serverOf(rewriting: Rewriting, handler: FunctionNode): string | undefined {
  const receiver = handler
    .getDescendantsOfKind(SyntaxKind.PropertyAccessExpression)
    .find((one) => one.getName() === 'connect')
    ?.getExpression()
  const constant = receiver === undefined ? undefined : constantOf(receiver)
  const created = constant !== undefined && isInside(constant, handler) ? constant.getInitializer() : receiver
  if (!Node.isCallExpression(created))
    return created !== undefined && isServerSource(rewriting, created) ? created.getText() : undefined
  const isCreator = created.getArguments().length === 0 && isServerSource(rewriting, created.getExpression())
  return isCreator ? created.getText() : undefined
}
