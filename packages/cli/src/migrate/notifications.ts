import { type CallExpression, Node, type ObjectLiteralExpression, SyntaxKind } from 'ts-morph'
import { leave, newTextOf, type Rewriting, replaceNode } from './rewriting.ts'
import { hasPlainMembers, memberNames, memberOf, objectOf, stringOf, withAwait } from './syntax.ts'

/** Rewrites a call of `sendNotification` (version 1) or `notify` (version 2). Returns false if it is left. */
export function rewriteNotification(rewriting: Rewriting, call: CallExpression, ctx: string): boolean {
  const notification = objectOf(call.getArguments()[0])
  const method = notification === undefined ? undefined : stringOf(memberOf(notification, 'method'))
  const params = notification === undefined ? undefined : objectOf(memberOf(notification, 'params'))
  const text = method === undefined ? undefined : notificationText(rewriting, method, params, ctx)
  if (text !== undefined && replaceStatement(rewriting, call, text)) return true
  leave(
    rewriting,
    call,
    'Write ctx.progress, ctx.log, ctx.notifyListChanged or ctx.notifyResourceUpdated for this notification.',
    'version1',
  )
  return false
}

function notificationText(
  rewriting: Rewriting,
  method: string,
  params: ObjectLiteralExpression | undefined,
  ctx: string,
): string | undefined {
  const list = /^notifications\/(tools|prompts|resources)\/list_changed$/.exec(method)?.[1]
  if (list !== undefined) return `await ${ctx}.notifyListChanged('${list}')`
  if (params === undefined || !hasPlainMembers(params)) return undefined
  if (method === 'notifications/progress') return progressText(rewriting, params, ctx)
  if (method === 'notifications/message') return logText(rewriting, params, ctx)
  if (method !== 'notifications/resources/updated') return undefined
  const [uri] = textsOf(rewriting, params, ['uri'])
  return uri === undefined ? undefined : `await ${ctx}.notifyResourceUpdated(${uri})`
}

function progressText(rewriting: Rewriting, params: ObjectLiteralExpression, ctx: string): string | undefined {
  const known = new Set(['progressToken', 'progress', 'total', 'message'])
  const [progress, total, message] = textsOf(rewriting, params, ['progress', 'total', 'message'])
  if (progress === undefined || memberNames(params).some((name) => !known.has(name))) return undefined
  return `${ctx}.progress(${argumentTexts([progress, total, message])})`
}

/** Returns `ctx.log(…)` for the parameters of a log notification. */
export function logText(rewriting: Rewriting, params: ObjectLiteralExpression, ctx: string): string | undefined {
  const known = new Set(['level', 'data', 'logger'])
  const [level, data, logger] = textsOf(rewriting, params, ['level', 'data', 'logger'])
  const isKnown = memberNames(params).every((name) => known.has(name))
  if (level === undefined || data === undefined || !isKnown) return undefined
  return `${ctx}.log(${argumentTexts([level, data, logger])})`
}

function textsOf(rewriting: Rewriting, object: ObjectLiteralExpression, names: readonly string[]) {
  return names.map((name) => {
    const value = memberOf(object, name)
    return value === undefined ? undefined : newTextOf(rewriting, value)
  })
}

function argumentTexts(texts: readonly (string | undefined)[]): string {
  const last = texts.findLastIndex((text) => text !== undefined)
  return texts
    .slice(0, last + 1)
    .map((text) => text ?? 'undefined')
    .join(', ')
}

/** Replaces a call whose result is not used. Returns false if something uses its result. */
export function replaceStatement(rewriting: Rewriting, call: Node, text: string): boolean {
  const awaited = withAwait(call)
  const parent = awaited.getParent()
  const isUnused =
    Node.isExpressionStatement(parent) ||
    parent?.getKind() === SyntaxKind.VoidExpression ||
    Node.isArrowFunction(parent)
  if (!isUnused) return false
  // A call that the source does not await stays so.
  replaceNode(rewriting, awaited, awaited === call ? text.replace(/^await /, '') : text)
  dropRemaining(rewriting, call)
  return true
}

/** Drops what was left in a range that is replaced, such as an argument that has no counterpart. */
function dropRemaining({ remaining }: Rewriting, node: Node): void {
  const others = remaining.filter(({ position }) => position < node.getStart() || position >= node.getEnd())
  remaining.splice(0, remaining.length, ...others)
}
