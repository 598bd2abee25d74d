import { type CallExpression, type Identifier, Node } from 'ts-morph'
import { type DefinitionKind, rewriteConfig, templateOf } from './configs.ts'
import { type OldHandler, rewriteHandler } from './handlers.ts'
import { finishPart, leave, nameConstant, replaceNode, type Rewriting, startPart, useImport } from './rewriting.ts'
import { functionOf, stringOf, usesOf } from './syntax.ts'
import { wrapReturns } from './tool-returns.ts'

/** The member of the server's definition that lists a definition. */
export type OfferKind = 'tools' | 'prompts' | 'resources' | 'resourceTemplates'

/** A definition that replaces a registration. */
export interface Offer {
  readonly kind: OfferKind
  /** The constant that holds the definition. */
  readonly constant: string
}

/** A call such as `server.registerTool(name, config, handler)`, in its parts. */
interface Registration {
  readonly call: CallExpression
  readonly kind: DefinitionKind
  readonly name: string
  readonly nameNode: Node
  /** The URI or the template of a resource. */
  readonly address: Node | undefined
  /** Description, schema and annotations: one object, or the arguments of the older methods. */
  readonly config: readonly Node[]
  readonly handler: Node
}

const methods: Readonly<Record<string, 'tool' | 'prompt' | 'resource' | undefined>> = {
  registerTool: 'tool',
  tool: 'tool',
  registerPrompt: 'prompt',
  prompt: 'prompt',
  registerResource: 'resource',
  resource: 'resource',
}

/** Returns true for a method of the server that registers a tool, a prompt or a resource. */
export function isRegistration(method: string): boolean {
  return Object.hasOwn(methods, method)
}

/** Rewrites a registration to a constant. Returns undefined, and changes nothing, where that is not possible. */
export function rewriteRegistration(
  rewriting: Rewriting,
  call: CallExpression,
  serverName: Identifier,
): Offer | undefined {
  const part = startPart(rewriting)
  const offer = rewriteParts(part, call, serverName)
  return finishPart(rewriting, part, offer !== undefined) ? offer : undefined
}

function rewriteParts(rewriting: Rewriting, call: CallExpression, serverName: Identifier): Offer | undefined {
  const registration = readRegistration(rewriting, call)
  const handler = registration === undefined ? undefined : functionOf(registration.handler)
  if (registration === undefined || handler === undefined) {
    leave(
      rewriting,
      call,
      'Write this as a constant: tool(…), prompt(…), resource(…) or resourceTemplate(…).',
      'version1',
    )
    return undefined
  }
  const { kind, name } = registration
  const constant = nameConstant(rewriting, name, kind === 'resourceTemplate' ? 'template' : kind)
  const input = rewriteConfig(rewriting, registration)
  if (input === undefined) return undefined
  if (input.hasOutput) wrapReturns(rewriting, handler)
  const old = readHandler(rewriting, registration, serverName, input.hasInput)
  if (old === undefined) return undefined
  rewriteHandler(rewriting, old)
  const callee = call.getExpression()
  const creator = useImport(rewriting, '@x/server', kind)
  rewriting.edits.replace(callee.getStart(), callee.getEnd(), `const ${constant} = ${creator}`)
  return { kind: `${kind}s`, constant }
}

function readRegistration(rewriting: Rewriting, call: CallExpression): Registration | undefined {
  const callee = call.getExpression()
  const kind = Node.isPropertyAccessExpression(callee) ? methods[callee.getName()] : undefined
  const [nameNode, ...rest] = call.getArguments()
  const name = stringOf(nameNode)
  const handler = rest.pop()
  if (kind === undefined || name === undefined || nameNode === undefined || handler === undefined) return undefined
  if (kind !== 'resource') return { call, kind, name, nameNode, address: undefined, config: rest, handler }
  const [address, ...config] = rest
  if (address === undefined) return undefined
  const isTemplate = templateOf(rewriting, address) !== undefined
  return { call, kind: isTemplate ? 'resourceTemplate' : 'resource', name, nameNode, address, config, handler }
}

function readHandler(
  rewriting: Rewriting,
  registration: Registration,
  serverName: Identifier,
  hasInput: boolean,
): OldHandler | undefined {
  const handler = functionOf(registration.handler)
  if (handler === undefined) return undefined
  const [first, second, third] = handler.getParameters()
  const { kind } = registration
  if (kind === 'tool' || kind === 'prompt') {
    const [argument, context] = hasInput ? [first, second] : [undefined, first]
    return { handler, argument, takesArgument: true, context, serverName }
  }
  const isRewritten = first === undefined || rewriteUriUses(rewriting, registration, first.getNameNode())
  if (!isRewritten) return undefined
  return kind === 'resource'
    ? { handler, argument: undefined, takesArgument: false, context: second, serverName }
    : { handler, argument: second, takesArgument: true, context: third, serverName }
}

/** Rewrites the uses of the parameter `uri`, which handlers do not have here: contents get the URI of the request. */
function rewriteUriUses(rewriting: Rewriting, { address, kind }: Registration, uri: Node): boolean {
  if (!Node.isIdentifier(uri)) return false
  const isFixed = kind === 'resource' && isNormalized(stringOf(address))
  return usesOf(uri).every((use) => {
    const access = use.getParent()
    const href = Node.isPropertyAccessExpression(access) && access.getName() === 'href' ? access : undefined
    const property = href?.getParent()
    if (Node.isPropertyAssignment(property) && property.getName() === 'uri') removeMember(rewriting, property)
    else if (href !== undefined && address !== undefined && isFixed) replaceNode(rewriting, href, address.getText())
    else {
      leave(
        rewriting,
        use,
        'Write the URI itself, or make it of the variables: read has no parameter `uri`.',
        'version1',
      )
      return false
    }
    return true
  })
}

function isNormalized(uri: string | undefined): boolean {
  return uri !== undefined && URL.canParse(uri) && new URL(uri).href === uri
}

function removeMember({ edits, source }: Rewriting, property: Node): void {
  const after = /^\s*,\s*/.exec(source.getFullText().slice(property.getEnd()))?.[0].length ?? 0
  edits.replace(property.getStart(), property.getEnd() + after, '')
}
