import { type Identifier, Node, type PropertyAccessExpression, SyntaxKind, type VariableDeclaration } from 'ts-morph'
import { isRegistration, type Offer, type OfferKind, rewriteRegistration } from './registrations.ts'
import { leave, newTextOf, type Rewriting, replaceNode, useImport } from './rewriting.ts'
import { callOf, hasPlainMembers, indentOf, memberNames, newExpressionsOf, objectOf, usesOf } from './syntax.ts'

/** Rewrites each `new McpServer(…)` with its registrations to definitions and one `createServer(…)`. */
export function rewriteServers(rewriting: Rewriting): void {
  const { source, sdkNames } = rewriting
  for (const created of newExpressionsOf(source, sdkNames, 'McpServer')) {
    const declaration = created.getParentIfKind(SyntaxKind.VariableDeclaration)
    const name = declaration?.getNameNode()
    if (declaration !== undefined && Node.isIdentifier(name)) rewriteServer(rewriting, declaration, name)
    else
      leave(
        rewriting,
        created,
        'Write createServer({ name, version, tools }), and define the tools before it.',
        'version1',
      )
  }
  for (const created of newExpressionsOf(source, sdkNames, 'Server'))
    leave(
      rewriting,
      created,
      'Write a tool(…), prompt(…) or resource(…) for each request handler, and createServer.',
      'version1',
    )
}

function rewriteServer(rewriting: Rewriting, declaration: VariableDeclaration, name: Identifier): void {
  const members = declaration.getVariableStatement() === undefined ? undefined : serverMembers(rewriting, declaration)
  if (members === undefined) {
    leave(
      rewriting,
      declaration,
      'Write createServer({ name, version, tools }), and define the tools before it.',
      'version1',
    )
    return
  }
  const statement = declaration.getVariableStatementOrThrow()
  const offers: Offer[] = []
  let last: Node = statement
  for (const call of usesOf(name).flatMap((use) => registrationOf(use) ?? [])) {
    const place = call.getParentIfKind(SyntaxKind.ExpressionStatement)
    const offer = place?.getParent() === statement.getParent() ? rewriteRegistration(rewriting, call, name) : 'outside'
    if (offer === 'outside')
      leave(rewriting, call, 'Write the definition as a constant, and list it in createServer.', 'version1')
    else if (offer !== undefined) {
      offers.push(offer)
      last = place ?? last
    }
  }
  for (const use of usesOf(name)) rewriteOtherUse(rewriting, use)
  writeServer(rewriting, declaration, last, [...members, ...offerMembers(offers)])
}

function registrationOf(use: Node) {
  const access = use.getParentIfKind(SyntaxKind.PropertyAccessExpression)
  if (access?.getExpression() !== use || !isRegistration(access.getName())) return undefined
  return callOf(access)
}

/** Returns the members of the server's definition that the arguments of the constructor have. */
function serverMembers(rewriting: Rewriting, declaration: VariableDeclaration): readonly string[] | undefined {
  const [info, options] = declaration.getInitializerIfKind(SyntaxKind.NewExpression)?.getArguments() ?? []
  if (info === undefined) return undefined
  const members = Node.isObjectLiteralExpression(info)
    ? info.getProperties().map((one) => newTextOf(rewriting, one))
    : [`...${info.getText()}`]
  const settings = options === undefined ? [] : settingMembers(rewriting, options)
  return settings === undefined ? undefined : [...members, ...settings]
}

/** Returns the members of the second argument that are kept. The capabilities follow from the definitions. */
function settingMembers(rewriting: Rewriting, options: Node): readonly string[] | undefined {
  const settings = objectOf(options)
  if (settings === undefined || !hasPlainMembers(settings)) return undefined
  if (memberNames(settings).some((one) => one !== 'capabilities' && one !== 'instructions'))
    leave(
      rewriting,
      settings,
      'Compare these options with those of createServer: only `instructions` is kept.',
      'server',
    )
  const instructions = settings.getProperty('instructions')
  return instructions === undefined ? [] : [instructions.getText()]
}

const offerKinds: readonly OfferKind[] = ['tools', 'prompts', 'resources', 'resourceTemplates']

function offerMembers(offers: readonly Offer[]): readonly string[] {
  return offerKinds.flatMap((kind) => {
    const constants = offers.filter((offer) => offer.kind === kind).map(({ constant }) => constant)
    return constants.length === 0 ? [] : [`${kind}: [${constants.join(', ')}]`]
  })
}

/** Creates the server after `last`, the statement with its last registration. */
function writeServer(
  rewriting: Rewriting,
  declaration: VariableDeclaration,
  last: Node,
  members: readonly string[],
): void {
  const statement = declaration.getVariableStatementOrThrow()
  const create = useImport(rewriting, '@x/server', 'createServer')
  const legacy = useImport(rewriting, '@x/legacy', 'legacy')
  const all = [...members, `extensions: [${legacy}()]`]
  const indent = indentOf(statement)
  const flat = `${create}({ ${all.join(', ')} })`
  const step = rewriting.source.getFullText().includes('\n\t') ? '\t' : '  '
  const text =
    flat.length < 90 ? flat : `${create}({\n${all.map((one) => `${indent}${step}${one},\n`).join('')}${indent}})`
  replaceNode(rewriting, declaration.getInitializerOrThrow(), text)
  if (last === statement) return
  const type =
    declaration.getTypeNode() === undefined && isUsedBefore(rewriting, declaration, last)
      ? `: ${useImport(rewriting, '@x/server', 'type McpServer')}`
      : ''
  if (type !== '') rewriting.edits.insert(declaration.getNameNode().getEnd(), type)
  moveStatement(rewriting, statement, last)
}

/** A server that a handler uses needs a type, because its own type depends on its handlers. */
function isUsedBefore({ edits }: Rewriting, declaration: VariableDeclaration, last: Node): boolean {
  return usesOf(declaration.getNameNode()).some(
    (use) => use.getStart() < last.getEnd() && !edits.covers(use.getStart()),
  )
}

/** Moves a statement, with the comments above it, after another one. */
function moveStatement({ edits, source }: Rewriting, statement: Node, last: Node): void {
  const text = source.getFullText()
  const ranges = statement.getLeadingCommentRanges()
  const start = ranges[0]?.getPos() ?? statement.getStart()
  const moved = edits.textOf(start, statement.getEnd())
  const after = /^[ \t]*\n\s*/.exec(text.slice(statement.getEnd()))?.[0].length ?? 0
  edits.replace(start, statement.getEnd() + after, '')
  edits.insert(last.getEnd(), `\n${indentOf(last)}${moved}`)
}

/** Rewrites a use of the server that is no registration and in no rewritten handler. */
function rewriteOtherUse(rewriting: Rewriting, use: Node): void {
  const position = use.getStart()
  const isLeft = rewriting.remaining.some((one) => one.position === position)
  if (rewriting.edits.covers(position) || isLeft || registrationOf(use) !== undefined) return
  const access = use.getParentIfKind(SyntaxKind.PropertyAccessExpression)
  if (access?.getExpression() === use) rewriteMemberUse(rewriting, use, access)
  else if (Node.isCallExpression(use.getParent()))
    leave(
      rewriting,
      use,
      'Return definitions from the function that takes the server, and list them in createServer.',
      'version1',
    )
}

/** The members of a server that are rewritten with its transport, or are the same here. */
const sameMembers: ReadonlySet<string> = new Set(['connect', 'close'])

function rewriteMemberUse(rewriting: Rewriting, use: Node, access: PropertyAccessExpression): void {
  const list = /^send(Tool|Prompt|Resource)ListChanged$/.exec(access.getName())?.[1]
  const call = callOf(access)
  if (list !== undefined && call !== undefined)
    replaceNode(rewriting, call, `${use.getText()}.notifyListChanged('${list.toLowerCase()}s')`)
  else if (!sameMembers.has(access.getName()))
    leave(rewriting, access, 'Move this into a handler, where ctx has what replaces it, or delete it.', 'version1')
}
