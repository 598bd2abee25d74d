import { type CallExpression, Node, type ObjectLiteralExpression, SyntaxKind } from 'ts-morph'
import { leave, replaceNode, type Rewriting, useImport } from './rewriting.ts'
import { constantOf, hasPlainMembers, indentOf, memberNames, memberOf, objectOf, stringOf, unwrap } from './syntax.ts'

/** The function that makes a definition. */
export type DefinitionKind = 'tool' | 'prompt' | 'resource' | 'resourceTemplate'

/** The parts of a registration that become the object of its definition. */
interface ConfigParts {
  readonly call: CallExpression
  readonly kind: DefinitionKind
  readonly nameNode: Node
  readonly address: Node | undefined
  readonly config: readonly Node[]
  readonly handler: Node
}

/** What a definition takes and returns. */
interface Shapes {
  readonly hasInput: boolean
  readonly hasOutput: boolean
}

/** Rewrites the arguments of a registration to the object of a definition. Returns undefined if they are left. */
export function rewriteConfig(rewriting: Rewriting, parts: ConfigParts): Shapes | undefined {
  const members = rewriteHead(rewriting, parts)
  if (members === undefined) return leaveConfig(rewriting, parts)
  const [config, ...others] = parts.config
  const shapes =
    Node.isObjectLiteralExpression(config) && others.length === 0 && isNewForm(parts)
      ? rewriteObject(rewriting, parts, { config, members })
      : writeObject(rewriting, parts, members)
  return shapes ?? leaveConfig(rewriting, parts)
}

function isNewForm({ call, kind }: ConfigParts): boolean {
  const callee = call.getExpression()
  const isRegister = Node.isPropertyAccessExpression(callee) && callee.getName().startsWith('register')
  // The metadata of the older method `resource` has the form of the new one.
  return isRegister || kind === 'resource' || kind === 'resourceTemplate'
}

/** Returns the arguments of `new ResourceTemplate(uri, callbacks)`. */
export function templateOf(
  { sdkNames }: Rewriting,
  address: Node,
): { readonly uri: Node; readonly callbacks: ObjectLiteralExpression | undefined } | undefined {
  const value = constantOf(address)?.getInitializer() ?? address
  if (!Node.isNewExpression(value) || sdkNames.get(value.getExpression().getText()) !== 'ResourceTemplate')
    return undefined
  const [uri, callbacks] = value.getArguments()
  return uri === undefined ? undefined : { uri, callbacks: objectOf(callbacks) }
}

/** Rewrites the name and the address before the object. Returns the members that they add to it. */
function rewriteHead(rewriting: Rewriting, { nameNode, address, kind }: ConfigParts): readonly string[] | undefined {
  if (address === undefined) return []
  const members = [`name: ${nameNode.getText()}`]
  rewriting.edits.replace(nameNode.getStart(), address.getStart(), '')
  if (kind === 'resource') return members
  const template = templateOf(rewriting, address)
  if (template === undefined || stringOf(template.uri) === undefined) return undefined
  rewriting.edits.replace(address.getStart(), address.getEnd(), template.uri.getText())
  const callbacks = template.callbacks === undefined ? [] : callbackMembers(template.callbacks)
  return callbacks === undefined ? undefined : [...members, ...callbacks]
}

/** Returns the callbacks of a template that are the same here. Those that list resources have another result. */
function callbackMembers(callbacks: ObjectLiteralExpression): readonly string[] | undefined {
  const list = callbacks.getProperty('list')
  const complete = callbacks.getProperty('complete')
  const isKnown = callbacks.getProperties().every((one) => one === list || one === complete)
  if (!isKnown || (list !== undefined && list.getText() !== 'list: undefined')) return undefined
  return complete === undefined ? [] : [complete.getText()]
}

interface NewObject {
  readonly config: ObjectLiteralExpression
  /** The members that the object of the registration does not have. */
  readonly members: readonly string[]
}

/** Changes the object of a registration in its place, so that its comments and its form stay. */
function rewriteObject(rewriting: Rewriting, parts: ConfigParts, { config, members }: NewObject): Shapes | undefined {
  const names = memberNames(config)
  if (!hasPlainMembers(config) || !isComplete(rewriting, parts, names)) return undefined
  for (const property of config.getProperties()) if (!rewriteMember(rewriting, property)) return undefined
  moveHandler(rewriting, parts, { config, members })
  return {
    hasInput: names.includes('inputSchema') || names.includes('argsSchema'),
    hasOutput: names.includes('outputSchema'),
  }
}

/** Makes the handler the last member of the object before it. */
function moveHandler(rewriting: Rewriting, { handler, call, kind }: ConfigParts, { config, members }: NewObject): void {
  const { edits } = rewriting
  const last = config.getProperties().at(-1)
  const opening = config.getStart() + 1
  const key = `${handlerKey(kind)}: `
  const tail = last?.getEnd() ?? opening
  const comments = commentsIn(rewriting, tail, handler.getStart())
  if (last === undefined) {
    const lead = [...members, `${comments}${key}`].join(', ')
    edits.replace(opening, handler.getStart(), ` ${lead}`)
    edits.insert(handler.getEnd(), ' }')
    return
  }
  const isMultiline = config.getText().includes('\n')
  const space = isMultiline ? `\n${indentOf(last)}` : ' '
  for (const member of members) edits.insert(opening, `${space}${member},`)
  edits.replace(tail, handler.getStart(), `,${space}${comments}${key}`)
  edits.insert(handler.getEnd(), isMultiline ? `,\n${indentOf(call)}}` : ' }')
}

function handlerKey(kind: DefinitionKind): string {
  return kind === 'tool' || kind === 'prompt' ? 'run' : 'read'
}

/** Returns the comments of a range, each on a line of its own. */
function commentsIn({ source }: Rewriting, start: number, end: number): string {
  const comments =
    source
      .getFullText()
      .slice(start, end)
      .match(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g) ?? []
  return comments.map((comment) => `${comment}\n`).join('')
}

/** Returns true if a definition has all members that it needs. */
function isComplete(rewriting: Rewriting, { kind, call }: ConfigParts, names: readonly string[]): boolean {
  if (kind !== 'tool' || names.includes('description')) return true
  leave(rewriting, call, 'Add a description: every tool has one here.', 'server')
  return false
}

/** The members with another name. A schema of version 1 may be the shape of an object. */
const renamed: Readonly<Record<string, string>> = {
  inputSchema: 'input',
  argsSchema: 'input',
  outputSchema: 'output',
  _meta: 'meta',
}

const kept: ReadonlySet<string> = new Set(['title', 'description', 'annotations', 'icons', 'mimeType', 'size'])

function rewriteMember(rewriting: Rewriting, property: Node): boolean {
  if (!Node.isPropertyAssignment(property) && !Node.isShorthandPropertyAssignment(property)) return false
  const newName = renamed[property.getName()]
  if (newName === undefined) return kept.has(property.getName())
  const name = property.getNameNode()
  const value =
    memberOf(property.getParentIfKindOrThrow(SyntaxKind.ObjectLiteralExpression), property.getName()) ?? name
  const text = newName === 'meta' ? value.getText() : schemaText(rewriting, value)
  if (text === undefined) return leaveSchema(rewriting, property)
  replaceNode(rewriting, name, value === name ? `${newName}: ${text}` : newName)
  if (value !== name) wrapSchema(rewriting, value, text)
  return true
}

function leaveSchema(rewriting: Rewriting, node: Node): false {
  const message = hasCompletions(node)
    ? 'Write the completion as a function in `complete`, beside `input`.'
    : 'Write the schema as `input` or `output`: z.object(…), or JSON Schema.'
  leave(rewriting, node, message, 'version1')
  return false
}

/** A schema of version 1 may have its completions in it. */
function hasCompletions(node: Node): boolean {
  return /\bcompletable\(/.test(node.getText())
}

/** Makes a schema of a shape, and keeps the changes inside it. */
function wrapSchema(rewriting: Rewriting, value: Node, text: string): void {
  if (text === value.getText()) return
  rewriting.edits.insert(value.getStart(), `${zodName(rewriting)}.object(`)
  rewriting.edits.insert(value.getEnd(), ')')
}

/** Returns the text of a schema: the shape of an object becomes a schema. Undefined if it is not clear what it is. */
function schemaText(rewriting: Rewriting, value: Node): string | undefined {
  if (hasCompletions(value)) return undefined
  const text = value.getText()
  const origin = unwrap(constantOf(value)?.getInitializer() ?? value)
  if (Node.isObjectLiteralExpression(origin)) return `${zodName(rewriting)}.object(${text})`
  return Node.isCallExpression(origin) && /\.(object|strictObject|looseObject)\(/.test(origin.getText())
    ? text
    : undefined
}

/** Returns the name by which the file uses zod. */
function zodName(rewriting: Rewriting): string {
  const module = rewriting.source
    .getImportDeclarations()
    .find((one) => /^zod(\/v4)?$/.test(one.getModuleSpecifierValue()))
  const named = module?.getNamedImports().find((one) => one.getName() === 'z')
  const local =
    module?.getNamespaceImport() ?? named?.getAliasNode() ?? named?.getNameNode() ?? module?.getDefaultImport()
  if (local !== undefined) return local.getText()
  return useImport(rewriting, 'zod', 'z')
}

/** Writes the object of a definition from the arguments of an older method, such as `tool(name, description, shape, …)`. */
function writeObject(rewriting: Rewriting, parts: ConfigParts, head: readonly string[]): Shapes | undefined {
  const members = [...head]
  let hasInput = false
  const argument = parts.config[0]
  for (const value of parts.config) {
    const member = memberText(rewriting, parts, value, hasInput)
    if (member === undefined) return undefined
    hasInput ||= member.startsWith('input: ')
    members.push(member)
  }
  const names = members.map((member) => member.split(':')[0] ?? '')
  if (!isComplete(rewriting, parts, names)) return undefined
  const start = argument?.getStart() ?? parts.handler.getStart()
  const text = `{ ${[...members, `${handlerKey(parts.kind)}: `].join(', ')}`
  if (argument === undefined) rewriting.edits.insert(start, text)
  else rewriting.edits.replace(start, parts.handler.getStart(), text)
  rewriting.edits.insert(parts.handler.getEnd(), ' }')
  return { hasInput, hasOutput: false }
}

function memberText(
  rewriting: Rewriting,
  { address, kind }: ConfigParts,
  value: Node,
  hasInput: boolean,
): string | undefined {
  if (address !== undefined) return Node.isIdentifier(value) ? `...${value.getText()}` : undefined
  if (isText(value)) return `description: ${value.getText()}`
  if (kind === 'tool' && (hasInput || isAnnotations(value))) return `annotations: ${value.getText()}`
  const schema = schemaText(rewriting, value)
  return schema === undefined ? undefined : `input: ${schema}`
}

function isText(value: Node): boolean {
  return stringOf(value) !== undefined || Node.isTemplateExpression(value) || Node.isBinaryExpression(value)
}

function isAnnotations(value: Node): boolean {
  const names = Node.isObjectLiteralExpression(value) ? memberNames(value) : []
  return names.some((name) => /^(title|readOnlyHint|destructiveHint|idempotentHint|openWorldHint)$/.test(name))
}

function leaveConfig(rewriting: Rewriting, { call }: ConfigParts): undefined {
  if (rewriting.remaining.length === 0)
    leave(
      rewriting,
      call,
      'Write this as a constant: tool(…), prompt(…), resource(…) or resourceTemplate(…).',
      'version1',
    )
  return undefined
}
