import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import * as z from 'zod'
import { answerQuestions } from '../http/answer-questions.ts'
import { type HandCall, HandError, membersOf, serveByHand } from '../http/hand-written.ts'

const input = z.object({ id: z.number().int() })
const resolution = z.object({ resolution: z.enum(['Fixed', 'Duplicate']) })
const original = z.object({ id: z.number().int() })

const ask = {
  resolution: questionOf('How was it resolved?', resolution),
  original: questionOf('Which bug does it repeat?', original),
}

// A tool with two questions as a careful author writes it for this tool alone. The question that was asked and the
// answer so far are in the state, which is encrypted, expires, is bound to the user, the tool and its arguments, and
// whose key may be rotated. An answer without the state of its question is not used.
answerQuestions(
  serveByHand((call) => {
    if (call.name !== 'resolve_bug') throw new HandError(-32602, 'No such tool')
    if (call.user === undefined) throw new HandError(-32602, 'Log in')
    const { data, error } = input.safeParse(call.arguments)
    if (error === undefined) return resolveBug(data.id, call)
    return { resultType: 'complete', isError: true, content: [{ type: 'text', text: z.prettifyError(error) }] }
  }),
)

function resolveBug(id: number, call: HandCall): object {
  const state = openState(call)
  const how = state?.how ?? (state && acceptedContent(call, 'resolution', resolution)?.resolution)
  if (how === undefined) return askClient(call, 'resolution')
  const bug = state?.asked === 'original' ? acceptedContent(call, 'original', original) : undefined
  if (bug === undefined) return askClient(call, 'original', how)
  return { resultType: 'complete', content: [{ type: 'text', text: `#${id} is ${how} of #${bug.id}` }] }
}

function questionOf(message: string, schema: z.ZodType): object {
  const { type, properties, required } = z.toJSONSchema(schema)
  const params = { mode: 'form', message, requestedSchema: { type, properties, required } }
  return { method: 'elicitation/create', params }
}

function askClient(call: HandCall, asked: keyof typeof ask, how: string | null = null): object {
  if (!call.canElicit) throw new HandError(-32021, 'The client must declare elicitation')
  const requestState = sealState([Date.now() + lifetimeMs, bindingOf(call), asked, how])
  return { resultType: 'input_required', inputRequests: { [asked]: ask[asked] }, requestState }
}

function acceptedContent<S extends z.ZodType>(call: HandCall, key: string, schema: S): z.output<S> | undefined {
  if (!Object.hasOwn(call.inputResponses, key)) return undefined
  const { action, content } = membersOf(call.inputResponses[key])
  if (action !== 'accept') throw new HandError(-32603, 'The user declined')
  return schema.safeParse(content).data
}

const lifetimeMs = 3_600_000
const gcm = { authTagLength: 16 }
const keys = new Map([
  ['k2', randomBytes(32)],
  ['k1', randomBytes(32)],
])
const [[primaryId, primaryKey] = ['', Buffer.alloc(0)]] = keys
const sealedState = z.tuple([z.number(), z.string(), z.enum(['resolution', 'original']), z.string().nullable()])

function sealState(content: z.input<typeof sealedState>): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', primaryKey, nonce)
  cipher.setAAD(Buffer.from(primaryId))
  const ciphertext = cipher.update(JSON.stringify(content), 'utf8')
  cipher.final()
  return `${primaryId}.${Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]).toString('base64url')}`
}

/** Returns the content of the state of a request. Undefined for a request without a state. */
function openState(call: HandCall): { readonly asked: string; readonly how: string | undefined } | undefined {
  if (call.requestState === undefined) return undefined
  const [id = '', text = ''] = call.requestState.split('.')
  const key = keys.get(id)
  const bytes = Buffer.from(text, 'base64url')
  if (key === undefined || bytes.length < 28) throw new HandError(-32602, 'Invalid requestState')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), gcm)
  decipher.setAAD(Buffer.from(id))
  decipher.setAuthTag(bytes.subarray(-16))
  try {
    const content = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
    const [until, binding, asked, how] = sealedState.parse(JSON.parse(content.toString()))
    if (until > Date.now() && binding === bindingOf(call)) return { asked, how: how ?? undefined }
  } catch {
    // The tag does not match, or another program wrote the state with this key.
  }
  throw new HandError(-32602, 'Invalid requestState')
}

/** Returns a digest of what a state is for. A client must repeat its arguments unchanged. */
function bindingOf({ name, arguments: given, user }: HandCall): string {
  return createHash('sha256')
    .update(JSON.stringify([user, name, given]))
    .digest('base64url')
}
