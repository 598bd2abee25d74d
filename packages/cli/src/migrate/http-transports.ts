import { type CallExpression, Node, SyntaxKind, type VariableDeclaration } from 'ts-morph'
import { removeStatement } from './imports.ts'
import { isSessionHandler, serverOf } from './session-handler.ts'
import { leave, type Rewriting, replaceNode, useImport } from './rewriting.ts'
import { constantOf, type FunctionNode, functionOf, stringOf, usesOf } from './syntax.ts'

const nodeModule = '@x/transport-http/node'

/**
 * Rewrites the request listener around a Streamable HTTP transport to `nodeHandler(server)`. A listener that does more than
 * to keep sessions and to pass requests to a transport is left.
 */
export function rewriteHttp(rewriting: Rewriting, created: Node): void {
  const call = listenerCallOf(created)
  const server = call === undefined ? undefined : servedBy(rewriting, call)
  if (call === undefined || server === undefined) {
    leave(
      rewriting,
      created,
      'Write nodeHandler(server) as the listener of your HTTP server, and delete the sessions.',
      'http',
    )
    return
  }
  const path = stringOf(call.getArguments()[0])
  if (path !== undefined && serveWhole(rewriting, call, { path, server })) return
  const listener = call.getArguments().at(-1)
  if (listener !== undefined)
    replaceNode(rewriting, listener, `${useImport(rewriting, nodeModule, 'nodeHandler')}(${server})`)
  if (path !== undefined) joinRoutes(rewriting, call, path)
}

/** Returns the text of the server behind a listener that does nothing else. */
function servedBy(rewriting: Rewriting, call: CallExpression): string | undefined {
  const handler = listenerOf(call)
  return handler !== undefined && isSessionHandler(rewriting, handler) ? serverOf(rewriting, handler) : undefined
}

/** Returns the function that is the last argument of a call, also where a constant holds it. */
function listenerOf(call: CallExpression): FunctionNode | undefined {
  const listener = call.getArguments().at(-1)
  if (listener === undefined) return undefined
  return functionOf(listener) ?? functionOf(constantOf(listener)?.getInitializer())
}

/** Returns the call of a router or of `createServer` whose listener creates the transport. */
function listenerCallOf(created: Node): CallExpression | undefined {
  for (const handler of created.getAncestors()) {
    const isFunction = Node.isArrowFunction(handler) || Node.isFunctionExpression(handler)
    if (!isFunction) continue
    const name = handler.getParentIfKind(SyntaxKind.VariableDeclaration)?.getNameNode()
    const use = name === undefined ? handler : usesOf(name)[0]
    const call = use?.getParentIfKind(SyntaxKind.CallExpression)
    if (call !== undefined && isListenerCall(call)) return call
  }
  return undefined
}

function isListenerCall(call: CallExpression): boolean {
  const callee = call.getExpression()
  const name = Node.isPropertyAccessExpression(callee) ? callee.getName() : callee.getText()
  return /^(post|all|use|createServer)$/.test(name)
}

interface Endpoint {
  readonly path: string
  readonly server: string
}

/** Returns the routes of an application for a path. */
function routesOf(app: Node, path: string): readonly CallExpression[] {
  return usesOf(app).flatMap((use) => {
    const access = use.getParentIfKind(SyntaxKind.PropertyAccessExpression)
    const call = access?.getParentIfKind(SyntaxKind.CallExpression)
    const isRoute = access !== undefined && /^(get|post|delete|all|use)$/.test(access.getName())
    return call !== undefined && isRoute && stringOf(call.getArguments()[0]) === path ? [call] : []
  })
}

/** Makes one route for all methods of the one that creates transports, and removes the others of its path. */
function joinRoutes(rewriting: Rewriting, call: CallExpression, path: string): void {
  const callee = call.getExpression()
  if (!Node.isPropertyAccessExpression(callee)) return
  const app = constantOf(callee.getExpression())?.getNameNode()
  for (const route of app === undefined ? [] : routesOf(app, path)) {
    if (route === call) continue
    if (isPlainRoute(rewriting, route)) removeStatement(rewriting.edits, route.getParentOrThrow())
    else
      leave(
        rewriting,
        route,
        'Delete this route, and keep what it does beside MCP: nodeHandler serves every method.',
        'http',
      )
  }
  if (callee.getName() === 'post') replaceNode(rewriting, callee.getNameNode(), 'all')
}

function isPlainRoute(rewriting: Rewriting, route: CallExpression): boolean {
  if (route.getArguments().length !== 2 || !Node.isExpressionStatement(route.getParent())) return false
  const handler = listenerOf(route)
  return handler !== undefined && isSessionHandler(rewriting, handler)
}

/** Rewrites a whole application of the official SDK to `serveHttp`, if it has nothing but its MCP endpoint. */
function serveWhole(rewriting: Rewriting, call: CallExpression, endpoint: Endpoint): boolean {
  const app = officialAppOf(rewriting, call)
  if (app === undefined) return false
  const uses = usesOf(app.getNameNode())
  const routes = routesOf(app.getNameNode(), endpoint.path)
  const listen = uses.map((use) => listenCallOf(use)).find((one) => one !== undefined)
  const isWhole = uses.length === routes.length + 1 && routes.every((one) => isPlainRoute(rewriting, one))
  const text = listen === undefined || !isWhole ? undefined : serveText(rewriting, listen, endpoint)
  if (listen === undefined || text === undefined) return false
  for (const route of routes) removeStatement(rewriting.edits, route.getParentOrThrow())
  removeStatement(rewriting.edits, app.getVariableStatementOrThrow())
  replaceNode(rewriting, listen, text)
  return true
}

/** Returns the constant that holds an application of the official SDK without options. */
function officialAppOf({ sdkNames }: Rewriting, route: CallExpression): VariableDeclaration | undefined {
  const callee = route.getExpression()
  const app = Node.isPropertyAccessExpression(callee) ? constantOf(callee.getExpression()) : undefined
  const created = app?.getInitializer()
  const isOfficial = Node.isCallExpression(created) && created.getArguments().length === 0
  return isOfficial && sdkNames.get(created.getExpression().getText()) === 'createMcpExpressApp' ? app : undefined
}

/** Returns `app.listen(…)` for a use of the application, if it is a statement. */
function listenCallOf(use: Node): CallExpression | undefined {
  const access = use.getParentIfKind(SyntaxKind.PropertyAccessExpression)
  const call = access?.getParentIfKind(SyntaxKind.CallExpression)
  return access?.getName() === 'listen' && Node.isExpressionStatement(call?.getParent()) ? call : undefined
}

function memberText(name: string, value: Node): string {
  return value.getText() === name ? name : `${name}: ${value.getText()}`
}

function serveText(rewriting: Rewriting, listen: CallExpression, { path, server }: Endpoint): string | undefined {
  const [port, ...rest] = listen.getArguments()
  const callback = functionOf(rest.at(-1))
  const hosts = callback === undefined ? rest : rest.slice(0, -1)
  if (port === undefined || hosts.length > 1 || (callback?.getParameters().length ?? 0) > 0) return undefined
  const members = [memberText('port', port), ...hosts.map((host) => memberText('host', host))]
  if (path !== '/mcp') members.push(`path: '${path}'`)
  if (hosts.length === 0)
    leave(
      rewriting,
      listen,
      'Set `host` and `allowedHosts` if other machines call the server: it listens on 127.0.0.1.',
      'network',
    )
  const serve = useImport(rewriting, nodeModule, 'serveHttp')
  const text = `${serve}(${server}, { ${members.join(', ')} })`
  return callback === undefined ? `await ${text}` : `${text}.then(${callback.getText()})`
}
