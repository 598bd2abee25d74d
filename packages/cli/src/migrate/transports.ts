import { type CallExpression, Node, SyntaxKind } from 'ts-morph'
import { rewriteHttp } from './http-transports.ts'
import { leave, type Rewriting, replaceNode, useImport } from './rewriting.ts'
import { callOf, functionDeclarationOf, newExpressionsOf, usesOf, withAwait } from './syntax.ts'

/** Rewrites the transports of a server, and how they are connected. */
export function rewriteTransports(rewriting: Rewriting): void {
  const { source, sdkNames } = rewriting
  for (const created of newExpressionsOf(source, sdkNames, 'StdioServerTransport')) rewriteStdio(rewriting, created)
  for (const className of ['StreamableHTTPServerTransport', 'NodeStreamableHTTPServerTransport'])
    for (const created of newExpressionsOf(source, sdkNames, className)) rewriteHttp(rewriting, created)
  for (const created of newExpressionsOf(source, sdkNames, 'SSEServerTransport'))
    leave(
      rewriting,
      created,
      'Write nodeHandler(server): with legacy() it also serves clients of HTTP with SSE.',
      'http',
    )
  for (const call of callsOf(rewriting, 'serveStdio')) rewriteServeStdio(rewriting, call)
  for (const call of callsOf(rewriting, 'toNodeHandler')) rewriteToNodeHandler(rewriting, call)
  for (const call of callsOf(rewriting, 'createMcpHandler'))
    if (!rewriting.edits.covers(call.getStart()) && !isUsedByNode(rewriting, call))
      leave(rewriting, call, 'Write httpHandler(server) for requests of the web, or nodeHandler(server).', 'version2')
}

/** Rewrites `server.connect(new StdioServerTransport())`, also where a constant holds the transport. */
function rewriteStdio(rewriting: Rewriting, created: Node): void {
  const declaration = created.getParentIfKind(SyntaxKind.VariableDeclaration)
  const [use, ...others] = declaration === undefined ? [created] : usesOf(declaration.getNameNode())
  const call = use?.getParentIfKind(SyntaxKind.CallExpression)
  const callee = call?.getExpression()
  const isConnect = Node.isPropertyAccessExpression(callee) && callee.getName() === 'connect'
  const parent = call === undefined ? undefined : withAwait(call).getParent()
  if (call === undefined || !isConnect || others.length > 0 || !Node.isExpressionStatement(parent)) {
    leave(rewriting, created, 'Write serveStdio(server).', 'version1')
    return
  }
  const serve = useImport(rewriting, '@x/transport-stdio', 'serveStdio')
  replaceNode(rewriting, withAwait(call), `${serve}(${callee.getExpression().getText()})`)
}

function callsOf({ source, sdkNames }: Rewriting, name: string): readonly CallExpression[] {
  return source
    .getDescendantsOfKind(SyntaxKind.CallExpression)
    .filter((one) => sdkNames.get(one.getExpression().getText()) === name)
}

/** Version 2: `serveStdio(createServer)` takes a function. */
function rewriteServeStdio(rewriting: Rewriting, call: CallExpression): void {
  const server = createdBy(call)
  if (server === undefined) leave(rewriting, call, 'Write serveStdio(server), with one server.', 'version2')
  else {
    const serve = useImport(rewriting, '@x/transport-stdio', 'serveStdio')
    replaceNode(rewriting, call, `${serve}(${server})`)
  }
}

/** Version 2: `toNodeHandler(createMcpHandler(createServer))`. */
function rewriteToNodeHandler(rewriting: Rewriting, call: CallExpression): void {
  const [handler] = call.getArguments()
  const created = handler === undefined ? undefined : handlerCallOf(rewriting, handler)
  const server = created === undefined ? undefined : createdBy(created)
  if (server === undefined) leave(rewriting, call, 'Write nodeHandler(server), with one server.', 'version2')
  else replaceNode(rewriting, call, `${useImport(rewriting, '@x/transport-http/node', 'nodeHandler')}(${server})`)
}

function handlerCallOf({ sdkNames }: Rewriting, handler: Node): CallExpression | undefined {
  const declaration = Node.isIdentifier(handler)
    ? handler.getDefinitionNodes().find(Node.isVariableDeclaration)
    : undefined
  const value = declaration?.getInitializer() ?? handler
  const isCreated = Node.isCallExpression(value) && sdkNames.get(value.getExpression().getText()) === 'createMcpHandler'
  return isCreated ? value : undefined
}

/** Returns the text that creates the server which a call gets a function for: a named function without parameters. */
function createdBy(call: CallExpression): string | undefined {
  const [create, ...others] = call.getArguments()
  const declaration = create === undefined ? undefined : functionDeclarationOf(create)
  if (create === undefined || declaration === undefined || others.length > 0) return undefined
  return declaration.getParameters().length === 0 && !declaration.isAsync() ? `${create.getText()}()` : undefined
}

/** Returns true if the constant of a handler has no use but in a rewritten `toNodeHandler`. */
function isUsedByNode({ edits }: Rewriting, call: CallExpression): boolean {
  const name = call.getParentIfKind(SyntaxKind.VariableDeclaration)?.getNameNode()
  return name !== undefined && usesOf(name).every((use) => edits.covers(use.getStart())) && callOf(name) === undefined
}
