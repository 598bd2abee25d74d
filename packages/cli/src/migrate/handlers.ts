import {
  type CallExpression,
  type Identifier,
  Node,
  type ParameterDeclaration,
  type PropertyAccessExpression,
  SyntaxKind,
} from 'ts-morph'
import { type ContextUse, contextUsesOf, serverUsesIn } from './context-uses.ts'
import { logText, replaceStatement, rewriteNotification } from './notifications.ts'
import { type Asking, rewriteQuestion } from './questions.ts'
import { leave, newTextOf, type Rewriting, replaceNode } from './rewriting.ts'
import { callOf, type FunctionNode, memberOf, objectOf } from './syntax.ts'

/** A handler of the official SDK. */
export interface OldHandler {
  readonly handler: FunctionNode
  /** The parameter before the context in the new code, such as the arguments. Undefined if it has none. */
  readonly argument: ParameterDeclaration | undefined
  /** True if the new handler has a parameter before the context. */
  readonly takesArgument: boolean
  readonly context: ParameterDeclaration | undefined
  readonly serverName: Identifier
}

/** Rewrites the parameters of a handler, and what it does with its context and its server. */
export function rewriteHandler(rewriting: Rewriting, old: OldHandler): void {
  const { handler, context } = old
  const asking: Asking = { handler, ctx: contextName(old), keys: new Set() }
  const uses = contextUsesOf(context)
  const serverUses = serverUsesIn(handler, old.serverName)
  const work = [
    ...uses.map((use) => ({ node: callOf(use.node) ?? use.node, run: () => rewriteUse(rewriting, use, asking) })),
    ...serverUses.map((use) => ({ node: callAround(use), run: () => rewriteServerUse(rewriting, use, asking) })),
  ]
  // Questions get their keys in the order of the source. A call comes after the uses in its arguments.
  const ordered = work.toSorted((a, b) => depthOf(b.node) - depthOf(a.node) || a.node.getStart() - b.node.getStart())
  let needsContext = uses.length > 0
  for (const { run } of ordered) needsContext = run() || needsContext
  writeParameters(rewriting, old, needsContext ? asking.ctx : undefined)
  removeReturnType(rewriting, handler)
}

function contextName({ handler, context }: OldHandler): string {
  if (context?.getName() === 'ctx') return 'ctx'
  const names = handler.getDescendantsOfKind(SyntaxKind.Identifier).map((one) => one.getText())
  return names.includes('ctx') ? 'context' : 'ctx'
}

/** Returns the call that a use of the server is a part of, such as `server.server.elicitInput(…)`. */
function callAround(use: Node): Node {
  return use.getFirstAncestorByKind(SyntaxKind.CallExpression) ?? use
}

function depthOf(node: Node): number {
  return node.getAncestors().length
}

function writeParameters(rewriting: Rewriting, old: OldHandler, ctx: string | undefined): void {
  const { handler, argument, takesArgument } = old
  const first = argument === undefined ? undefined : newTextOf(rewriting, argument)
  const before = takesArgument && (first !== undefined || ctx !== undefined) ? [first ?? '_'] : []
  const text = `(${[...before, ...(ctx === undefined ? [] : [ctx])].join(', ')})`
  const [start, end] = parameterRange(handler)
  if (handler.getSourceFile().getFullText().slice(start, end) !== text) rewriting.edits.replace(start, end, text)
}

/** Returns the range of the parameters with their parentheses, which a single parameter may not have. */
function parameterRange(handler: FunctionNode): readonly [start: number, end: number] {
  const open = handler.getFirstChildByKind(SyntaxKind.OpenParenToken)
  const close = handler.getFirstChildByKind(SyntaxKind.CloseParenToken)
  if (open !== undefined && close !== undefined) return [open.getStart(), close.getEnd()]
  const only = handler.getParameters()[0] ?? handler
  return [only.getStart(), only.getEnd()]
}

/** Removes a return type of the official SDK. The definition around the handler checks what it returns. */
function removeReturnType({ edits, sdkNames }: Rewriting, handler: FunctionNode): void {
  const type = handler.getReturnTypeNode()
  const names = type?.getDescendantsOfKind(SyntaxKind.Identifier).map((one) => one.getText()) ?? []
  const colon = type?.getPreviousSiblingIfKind(SyntaxKind.ColonToken)
  if (type === undefined || colon === undefined || !names.some((name) => sdkNames.has(name))) return
  edits.replace(colon.getStart(), type.getEnd(), '')
}

/** Rewrites one use of the context. Returns true: the new code uses it. */
function rewriteUse(rewriting: Rewriting, { node, member }: ContextUse, asking: Asking): true {
  const { ctx } = asking
  const call = callOf(node)
  if (member === undefined) leaveWhole(rewriting, node, ctx)
  else if (renamedMembers[member] !== undefined) replaceRenamed(rewriting, node, `${ctx}.${renamedMembers[member]}`)
  else if (call === undefined || !rewriteContextCall(rewriting, call, member, asking))
    leaveMember(rewriting, node, member, ctx)
  return true
}

/** Rewrites a call of a member of the context. Returns false if there is no such member. */
function rewriteContextCall(rewriting: Rewriting, call: CallExpression, member: string, asking: Asking): boolean {
  const question = questionsOf[member]
  if (member === 'sendNotification' || member === 'notify') rewriteNotification(rewriting, call, asking.ctx)
  else if (member === 'log') replaceNode(rewriting, call.getExpression(), `${asking.ctx}.log`)
  else if (question !== undefined) rewriteQuestion(rewriting, call, question, asking)
  else return false
  return true
}

const renamedMembers: Readonly<Record<string, string | undefined>> = { signal: 'signal', _meta: 'meta' }

const questionsOf: Readonly<Record<string, 'elicitResult' | 'sample' | undefined>> = {
  elicitInput: 'elicitResult',
  createMessage: 'sample',
  requestSampling: 'sample',
}

/** Replaces a member that is always defined here, and `?.` after it. */
function replaceRenamed(rewriting: Rewriting, node: Node, text: string): void {
  replaceExpression(rewriting, node, text)
  const access = node.getParentIfKind(SyntaxKind.PropertyAccessExpression)
  const chain = access?.getQuestionDotTokenNode()
  if (chain !== undefined) replaceNode(rewriting, chain, '.')
}

/** Replaces an expression, also where it is a shorthand member of an object. */
function replaceExpression(rewriting: Rewriting, node: Node, text: string): void {
  const isShorthand = Node.isShorthandPropertyAssignment(node.getParent())
  replaceNode(rewriting, node, isShorthand ? `${node.getText()}: ${text}` : text)
}

function leaveWhole(rewriting: Rewriting, node: Node, ctx: string): void {
  replaceExpression(rewriting, node, ctx)
  leave(rewriting, node, 'Give the function that takes this value a parameter of the type `Context`.', 'version1')
}

function leaveMember(rewriting: Rewriting, node: Node, member: string, ctx: string): void {
  const isMember = Node.isPropertyAccessExpression(node)
  if (isMember && Node.isIdentifier(node.getExpression())) replaceNode(rewriting, node.getExpression(), ctx)
  const [message, guide] = leftMembers[member] ?? [
    `Write what replaces ${member}, which the context does not have, or delete this.`,
    'version1',
  ]
  leave(rewriting, node, message, guide)
}

const leftMembers: Readonly<
  Record<string, readonly [string, 'protect' | 'sessions' | 'version1' | 'version2' | 'tasks']>
> = {
  authInfo: ['Write ctx.principal, which has `subject`, `scopes` and `claims`.', 'protect'],
  http: ['Write ctx.principal for the caller; the headers of the request are not part of the context.', 'protect'],
  sessionId: ['Delete this: requests belong to no session, unless you add the extension `sessions`.', 'sessions'],
  requestId: ['Delete this: notifications of the context belong to their request.', 'version1'],
  sendRequest: ['Write ctx.elicit, ctx.sample or ctx.roots, with a key of its own for each question.', 'version1'],
  send: ['Write ctx.elicit, ctx.sample or ctx.roots, with a key of its own for each question.', 'version1'],
  inputResponses: [
    'Write `await ctx.elicit(key, …)` where the handler asks, and delete the branches for rounds.',
    'version2',
  ],
  requestState: ['Delete this: the server makes and checks the state.', 'version2'],
  taskStore: ['Write the tool with `task`, and add the extension `tasks`.', 'tasks'],
}

/** Rewrites a use of the server inside a handler. Returns true if the new code uses the context instead. */
function rewriteServerUse(rewriting: Rewriting, use: Node, asking: Asking): boolean {
  const method = serverMethodOf(use)
  const call = method === undefined ? undefined : callOf(method)
  if (method === undefined || call === undefined) return false
  const question = questionsOf[method.getName()]
  if (question !== undefined) return rewriteQuestion(rewriting, call, question, asking)
  const text = serverCallText(rewriting, method.getName(), call.getArguments()[0], asking.ctx)
  if (text === undefined) return false
  if (!text.includes('.client.')) return replaceStatement(rewriting, call, text)
  replaceNode(rewriting, call, text)
  return true
}

/** Returns the method that is called on the server, or on the low-level server inside it. */
function serverMethodOf(use: Node): PropertyAccessExpression | undefined {
  const access = use.getParentIfKind(SyntaxKind.PropertyAccessExpression)
  if (access?.getExpression() !== use) return undefined
  return access.getName() === 'server' ? access.getParentIfKind(SyntaxKind.PropertyAccessExpression) : access
}

function serverCallText(
  rewriting: Rewriting,
  name: string,
  argument: Node | undefined,
  ctx: string,
): string | undefined {
  const list = /^send(Tool|Prompt|Resource)ListChanged$/.exec(name)?.[1]
  if (list !== undefined) return `await ${ctx}.notifyListChanged('${list.toLowerCase()}s')`
  if (name === 'getClientCapabilities') return `${ctx}.client.capabilities`
  if (name === 'getClientVersion') return `${ctx}.client.info`
  const params = objectOf(argument)
  if (params === undefined) return undefined
  if (name === 'sendLoggingMessage') return logText(rewriting, params, ctx)
  const uri = memberOf(params, 'uri')
  if (name !== 'sendResourceUpdated' || uri === undefined) return undefined
  return `await ${ctx}.notifyResourceUpdated(${newTextOf(rewriting, uri)})`
}
