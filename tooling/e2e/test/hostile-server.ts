import { inputRequired, prompt, resource, type ServerDefinition, tool } from '@x/server'
import * as z from 'zod'
import { forms, keys, stateWith } from './asking.ts'

/** A word that only the server knows; it stands in everything that a call keeps. */
export const secret = 'hunter2-behind-the-counter'

/** The record of handlers after a question, each with its input. */
export type Trace = (key: string, given: unknown) => void

const question = { messages: [{ role: 'user', content: { type: 'text', text: 'Why?' } }], maxTokens: 10 } as const
const explicitForm = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Which?',
    requestedSchema: { type: 'object', properties: { which: { type: 'string' } }, required: ['which'] },
  },
} as const

/** Everything that can ask, in every way that there is. */
export function hostileDefinition(trace: Trace): Omit<ServerDefinition, 'name' | 'version'> {
  const twice = tool('twice', {
    description: 'Two rounds, and a step between them',
    run: async (_, ctx) => {
      const { resolution } = await ctx.elicit('resolution', { message: 'How?', schema: forms.resolution })
      trace('resolution', resolution)
      await ctx.step('price', () => ({ secret }))
      const { original } = await ctx.elicit('original', { message: 'Of which?', schema: forms.original })
      trace('original', original)
      return `${resolution} ${original}`
    },
  })
  const atOnce = tool('at-once', {
    description: 'Three kinds of questions at once',
    run: async (_, ctx) => {
      const [{ sure }, said, roots] = await Promise.all([
        ctx.elicit('sure', { message: 'Sure?', schema: forms.sure }),
        ctx.sample('why', question),
        ctx.roots('places'),
      ])
      trace('sure', sure)
      trace('why', said.role)
      trace('places', roots)
      return `${sure} ${roots.length}`
    },
  })
  const explicit = tool('explicit', {
    description: 'Asks in the terms of the protocol',
    run: (_, ctx) => {
      const which = ctx.responses.get('which')
      if (which === undefined) return inputRequired({ requests: { which: explicitForm }, state: { secret } })
      trace('which', 'action' in which ? ctx.state : 'another kind')
      return 'which'
    },
  })
  const letter = prompt('letter', {
    run: async (_, ctx) => {
      const { login } = await ctx.elicit('login', { message: 'Who?', schema: forms.login })
      trace('login', login)
      return 'Dear'
    },
  })
  const page = resource('test://page', {
    name: 'page',
    read: async (ctx) => {
      await ctx.elicitUrl('page', { message: 'Go there', url: 'https://example.com/page' })
      trace('page', 'gone')
      return 'read'
    },
  })
  return {
    tools: [twice, atOnce, explicit],
    prompts: [letter],
    resources: [page],
    state: stateWith(keys.first),
    strictReplay: false,
  }
}

/** The inputs that a handler may receive after each question; anything else passed a check by mistake. */
export const believable: ReadonlyMap<string, z.ZodType> = new Map<string, z.ZodType>([
  ['resolution', forms.resolution.shape.resolution],
  ['original', forms.original.shape.original],
  ['sure', forms.sure.shape.sure],
  ['login', forms.login.shape.login],
  ['why', z.enum(['user', 'assistant'])],
  ['places', z.array(z.looseObject({ uri: z.string().startsWith('file://') }))],
  ['which', z.strictObject({ secret: z.literal(secret) })],
  ['page', z.literal('gone')],
])

/** Every target with the question that it asks first, and a good answer to it. */
export const targets = [
  {
    method: 'tools/call',
    params: { name: 'twice', arguments: {} },
    good: { resolution: accept({ resolution: 'Fixed' }) },
  },
  {
    method: 'tools/call',
    params: { name: 'at-once', arguments: {} },
    good: {
      sure: accept({ sure: true }),
      why: { role: 'assistant', content: { type: 'text', text: 'Because' }, model: 'm' },
      places: { roots: [{ uri: 'file:///work' }] },
    },
  },
  { method: 'tools/call', params: { name: 'explicit', arguments: {} }, good: { which: accept({ which: 'a' }) } },
  { method: 'prompts/get', params: { name: 'letter' }, good: { login: accept({ login: 'Ada' }) } },
  { method: 'resources/read', params: { uri: 'test://page' }, good: { page: { action: 'accept' } } },
] as const

/** One of the {@link targets}. */
export type Target = (typeof targets)[number]

function accept<const T extends object>(content: T): { readonly action: 'accept'; readonly content: T } {
  return { action: 'accept', content }
}
