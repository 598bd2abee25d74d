import { inputRequired, prompt, resource, type ServerDefinition, tool } from '@x/server'
import * as z from 'zod'
import { forms, keys, stateWith } from './asking.ts'

/** A canary that only the server knows. Every call stores it in its state. */
const secret = 'hunter2-behind-the-counter'

/** Texts of the server that no response may contain. */
export const secrets: readonly string[] = [secret, keys.first]

/** Records the answers that handlers receive. */
export type OnAnswer = (key: string, given: unknown) => void

const question = { messages: [{ role: 'user', content: { type: 'text', text: 'Why?' } }], maxTokens: 10 } as const
const explicitForm = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Which?',
    requestedSchema: { type: 'object', properties: { which: { type: 'string' } }, required: ['which'] },
  },
} as const

/** Creates tools, a prompt and a resource that ask in all supported ways. */
export function hostileDefinition(onAnswer: OnAnswer): Omit<ServerDefinition, 'name' | 'version'> {
  const twice = tool('twice', {
    description: 'Asks twice, with a step in between',
    run: async (_, ctx) => {
      const { resolution } = await ctx.elicit('resolution', { message: 'How?', schema: forms.resolution })
      onAnswer('resolution', resolution)
      await ctx.step('price', () => ({ secret }))
      const { original } = await ctx.elicit('original', { message: 'Of which?', schema: forms.original })
      onAnswer('original', original)
      return `${resolution} ${original}`
    },
  })
  const atOnce = tool('at-once', {
    description: 'Asks three kinds of questions concurrently',
    run: async (_, ctx) => {
      const [{ sure }, sampled, roots] = await Promise.all([
        ctx.elicit('sure', { message: 'Sure?', schema: forms.sure }),
        ctx.sample('why', question),
        ctx.roots('places'),
      ])
      onAnswer('sure', sure)
      onAnswer('why', sampled.role)
      onAnswer('places', roots)
      return `${sure} ${roots.length}`
    },
  })
  const explicit = tool('explicit', {
    description: 'Returns an input request explicitly',
    run: (_, ctx) => {
      const which = ctx.responses.get('which')
      if (which === undefined) return inputRequired({ requests: { which: explicitForm }, state: { secret } })
      onAnswer('which', 'action' in which ? ctx.state : 'another kind')
      return 'which'
    },
  })
  const letter = prompt('letter', {
    run: async (_, ctx) => {
      const { login } = await ctx.elicit('login', { message: 'Who?', schema: forms.login })
      onAnswer('login', login)
      return 'Dear'
    },
  })
  const page = resource('test://page', {
    name: 'page',
    read: async (ctx) => {
      await ctx.elicitUrl('page', { message: 'Go there', url: 'https://example.com/page' })
      onAnswer('page', 'opened')
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

/** The schemas of the values that a handler may receive for each question. */
export const expectedInputs: ReadonlyMap<string, z.ZodType> = new Map<string, z.ZodType>([
  ['resolution', forms.resolution.shape.resolution],
  ['original', forms.original.shape.original],
  ['sure', forms.sure.shape.sure],
  ['login', forms.login.shape.login],
  ['why', z.enum(['user', 'assistant'])],
  ['places', z.array(z.looseObject({ uri: z.string().startsWith('file://') }))],
  ['which', z.strictObject({ secret: z.literal(secret) })],
  ['page', z.literal('opened')],
])

/** Every target with its first questions and valid answers to them. */
export const targets = [
  {
    method: 'tools/call',
    params: { name: 'twice', arguments: {} },
    validAnswers: { resolution: accept({ resolution: 'Fixed' }) },
  },
  {
    method: 'tools/call',
    params: { name: 'at-once', arguments: {} },
    validAnswers: {
      sure: accept({ sure: true }),
      why: { role: 'assistant', content: { type: 'text', text: 'Because' }, model: 'm' },
      places: { roots: [{ uri: 'file:///work' }] },
    },
  },
  {
    method: 'tools/call',
    params: { name: 'explicit', arguments: {} },
    validAnswers: { which: accept({ which: 'a' }) },
  },
  { method: 'prompts/get', params: { name: 'letter' }, validAnswers: { login: accept({ login: 'Ada' }) } },
  { method: 'resources/read', params: { uri: 'test://page' }, validAnswers: { page: { action: 'accept' } } },
] as const

/** One of the {@link targets}. */
export type Target = (typeof targets)[number]

function accept<const T extends object>(content: T): { readonly action: 'accept'; readonly content: T } {
  return { action: 'accept', content }
}
