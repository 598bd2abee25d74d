import { type CallExpression, Node, type ObjectLiteralExpression, SyntaxKind } from 'ts-morph'
import { leave, type Rewriting } from './rewriting.ts'
import { type FunctionNode, hasPlainMembers, memberNames, memberOf, objectOf, stringOf } from './syntax.ts'

/** What a handler asks the client. */
type Question = 'elicitResult' | 'sample'

/** The handler that asks, and the keys of its questions so far. */
export interface Asking {
  readonly handler: FunctionNode
  readonly ctx: string
  readonly keys: Set<string>
}

/** Rewrites `elicitInput` or `createMessage` to `ctx.elicitResult` or `ctx.sample`. Returns false if it is left. */
export function rewriteQuestion(
  rewriting: Rewriting,
  call: CallExpression,
  question: Question,
  asking: Asking,
): boolean {
  const [params, ...others] = call.getArguments()
  const problem = params === undefined || others.length > 0 || isRepeated(call, asking.handler)
  if (problem || !Node.isExpression(params)) return leaveQuestion(rewriting, call, question)
  if (question === 'sample') askModel(rewriting, call, asking)
  else if (!rewriteForm(rewriting, call, asking)) return leaveQuestion(rewriting, call, question)
  noteReplay(rewriting, call, asking.handler)
  return true
}

function askModel(rewriting: Rewriting, call: CallExpression, asking: Asking): void {
  askWith(rewriting, call, `${asking.ctx}.sample`, uniqueKey(asking, 'message'))
  const message = 'Check what reads `content`: it may be an array. ctx.sampleText(key, params) returns the text.'
  leave(rewriting, call, message, 'version1')
}

function rewriteForm(rewriting: Rewriting, call: CallExpression, asking: Asking): boolean {
  const params = call.getArguments()[0]
  if (!Node.isObjectLiteralExpression(params) || !isForm(params)) return false
  const schema = params.getPropertyOrThrow('requestedSchema')
  if (Node.isShorthandPropertyAssignment(schema)) rewriting.edits.insert(schema.getStart(), 'schema: ')
  else if (Node.isPropertyAssignment(schema)) {
    const name = schema.getNameNode()
    rewriting.edits.replace(name.getStart(), name.getEnd(), 'schema')
  }
  const mode = params.getProperty('mode')
  const next = mode?.getNextSiblingIfKind(SyntaxKind.CommaToken)?.getNextSibling()
  if (mode !== undefined && next !== undefined) rewriting.edits.replace(mode.getStart(), next.getStart(), '')
  askWith(rewriting, call, `${asking.ctx}.elicitResult`, uniqueKey(asking, keyOf(call, params)))
  return true
}

function isForm(params: ObjectLiteralExpression): boolean {
  const known = new Set(['mode', 'message', 'requestedSchema'])
  const names = memberNames(params)
  const mode = memberOf(params, 'mode')
  return (
    hasPlainMembers(params) &&
    names.every((name) => known.has(name)) &&
    names.includes('requestedSchema') &&
    names.includes('message') &&
    // The last member has no comma that could go with it.
    (mode === undefined || (stringOf(mode) === 'form' && names.at(-1) !== 'mode'))
  )
}

function askWith({ edits }: Rewriting, call: CallExpression, functionText: string, key: string): void {
  const params = call.getArguments()[0]
  if (params === undefined) return
  edits.replace(call.getStart(), params.getStart(), `${functionText}('${key}', `)
}

/** Returns the key of a question: its only field, or the constant that holds its answer. */
function keyOf(call: CallExpression, params: ObjectLiteralExpression): string {
  const schema = objectOf(memberOf(params, 'requestedSchema'))
  const fields = schema === undefined ? undefined : objectOf(memberOf(schema, 'properties'))
  const [field, ...others] = fields === undefined ? [] : memberNames(fields)
  if (field !== undefined && /^\w+$/.test(field) && others.length === 0) return field
  return call.getFirstAncestorByKind(SyntaxKind.VariableDeclaration)?.getName().match(/^\w+$/)?.[0] ?? 'answer'
}

function uniqueKey({ keys }: Asking, wanted: string): string {
  let key = wanted
  for (let count = 2; keys.has(key); count += 1) key = `${wanted}${count}`
  keys.add(key)
  return key
}

/** A question in a loop or in a function that may run twice needs a key that the author chooses. */
function isRepeated(call: Node, handler: FunctionNode): boolean {
  return call
    .getAncestors()
    .slice(0, call.getAncestors().indexOf(handler))
    .some((one) => Node.isIterationStatement(one) || Node.isFunctionLikeDeclaration(one))
}

function leaveQuestion(rewriting: Rewriting, call: Node, question: Question): false {
  const message =
    question === 'sample'
      ? 'Write ctx.sample(key, params), with a key of its own for each question.'
      : 'Write ctx.elicit(key, { message, schema }) or ctx.elicitUrl, with a key of its own for each question.'
  leave(rewriting, call, message, 'version1')
  return false
}

/** Names what the author must check: the handler runs again from its first line after each answer. */
function noteReplay(rewriting: Rewriting, call: CallExpression, handler: FunctionNode): void {
  const block = call.getAncestors().find((one) => Node.isTryStatement(one) && one.getCatchClause() !== undefined)
  if (block !== undefined && block.getStart() > handler.getStart())
    leave(rewriting, block, 'Write `if (isSuspension(error)) throw error` first in the catch clause.', 'replay')
  const earlier = handler
    .getDescendantsOfKind(SyntaxKind.AwaitExpression)
    .find((one) => one.getEnd() < call.getStart() && !/\.(elicitInput|createMessage|sendLog)/.test(one.getText()))
  if (earlier !== undefined)
    leave(
      rewriting,
      earlier,
      'Write ctx.step(key, work) around this if it must happen once: the handler runs again after the answer.',
      'replay',
    )
}
