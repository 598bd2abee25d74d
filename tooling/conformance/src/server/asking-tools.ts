import { inputRequired, prompt, tool } from '@x/server'
import * as z from 'zod'

// The schemas are outside the handlers, so that each is converted to a form once.
const named = z.object({ name: z.string().meta({ title: 'Name' }) })
const confirmed = z.object({ ok: z.boolean().meta({ title: 'OK' }) })
const coloured = z.object({ color: z.string().meta({ title: 'Color' }) })
const contextual = z.object({ context: z.string().meta({ title: 'Context' }) })

const account = z.object({
  username: z.string().meta({ description: "User's response" }),
  email: z.string().meta({ description: "User's email address" }),
})
const profile = z.object({
  name: z.string().default('John Doe'),
  age: z.int().default(30),
  score: z.number().default(95.5),
  status: z.enum(['active', 'inactive', 'pending']).default('active'),
  verified: z.boolean().default(true),
})

const values = ['option1', 'option2', 'option3']
const titled = [
  { const: 'value1', title: 'First Option' },
  { const: 'value2', title: 'Second Option' },
  { const: 'value3', title: 'Third Option' },
]
const askChoices = inputRequired({
  requests: {
    choices: {
      method: 'elicitation/create',
      params: {
        message: 'Please choose',
        requestedSchema: {
          type: 'object',
          properties: {
            untitledSingle: { type: 'string', enum: values },
            titledSingle: { type: 'string', oneOf: titled },
            legacyEnum: {
              type: 'string',
              enum: ['opt1', 'opt2', 'opt3'],
              enumNames: ['Option One', 'Option Two', 'Option Three'],
            },
            untitledMulti: { type: 'array', items: { type: 'string', enum: values } },
            titledMulti: { type: 'array', items: { anyOf: titled } },
          },
        },
      },
    },
  },
  state: { since: 'the first round' },
})

const capital = {
  messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
  maxTokens: 100,
} as const

/** Tools that require input of the client before their result (basic/patterns/mrtr). */
export const askingTools = [
  tool('test_input_required_result_elicitation', {
    description: 'Asks the user for a name with an InputRequiredResult and without a state',
    // One scenario sends the answer with its first request. Only `ctx.responses` has such an answer.
    run: (_, ctx) => {
      const answer = ctx.responses.get('user_name')
      if (answer === undefined || !('action' in answer) || answer.action !== 'accept') return askName
      return `Hello, ${String(answer.content?.['name'] ?? 'stranger')}!`
    },
  }),
  tool('test_input_required_result_sampling', {
    description: 'Asks the model for a capital',
    run: async (_, ctx) => `The model says: ${textOf((await ctx.sample('capital', capital)).content)}`,
  }),
  tool('test_input_required_result_list_roots', {
    description: 'Asks for the roots',
    run: async (_, ctx) => `The client has ${(await ctx.roots('client_roots')).length} roots.`,
  }),
  tool('test_input_required_result_request_state', {
    description: 'Asks for a confirmation, and keeps a ticket in the state',
    run: async (_, ctx) => {
      const ticket = ctx.uuid('ticket')
      const { ok } = await ctx.elicit('confirm', { message: 'Please confirm', schema: confirmed })
      return `state-ok: ticket ${ticket} is ${ok ? 'confirmed' : 'refused'}.`
    },
  }),
  tool('test_input_required_result_multiple_inputs', {
    description: 'Asks the user, the model and the client at once',
    run: async (_, ctx) => {
      const [{ name }, said, roots] = await Promise.all([
        ctx.elicit('user_name', { message: 'What is your name?', schema: named }),
        ctx.sample('greeting', capital),
        ctx.roots('client_roots'),
      ])
      return `${name} has ${roots.length} roots, and the model says: ${textOf(said.content)}`
    },
  }),
  tool('test_input_required_result_multi_round', {
    description: 'Asks for a name, and then for a color',
    run: async (_, ctx) => {
      const { name } = await ctx.elicit('step1', { message: 'Step 1: What is your name?', schema: named })
      const { color } = await ctx.elicit('step2', { message: 'Step 2: Which color do you like?', schema: coloured })
      return `${name} likes ${color}.`
    },
  }),
  tool('test_input_required_result_tampered_state', {
    description: 'Asks with an InputRequiredResult that has its own state',
    run: (_, ctx) => {
      if (!ctx.responses.has('confirm')) return askInFull
      return `The state came back as ${JSON.stringify(ctx.state)}.`
    },
  }),
  tool('test_input_required_result_capabilities', {
    description: 'Sends only requests that the capabilities of the client allow',
    run: async (_, ctx) => {
      if (ctx.can('sampling')) return `The model says: ${textOf((await ctx.sample('capital', capital)).content)}`
      if (!ctx.can('elicitation')) return 'The client supports no input requests.'
      return `Hello, ${(await ctx.elicit('user_name', { message: 'What is your name?', schema: named })).name}!`
    },
  }),
  tool('test_streaming_elicitation', {
    description: 'Asks in its result, because a server sends no requests',
    run: async (_, ctx) => {
      const { ok } = await ctx.elicit('confirm', { message: 'Please confirm', schema: confirmed })
      return ok ? 'Confirmed.' : 'Not confirmed.'
    },
  }),
]

/**
 * Tools that ask, with the names of the suite's scenarios for clients of 2025-11-25. The handlers are the same for
 * 2026-07-28.
 */
export const sessionTools = [
  tool('test_sampling', {
    description: 'Asks the model to answer a prompt',
    input: z.object({ prompt: z.string() }),
    run: async ({ prompt: text }, ctx) => {
      const said = await ctx.sample('answer', {
        messages: [{ role: 'user', content: { type: 'text', text } }],
        maxTokens: 100,
      })
      return `LLM response: ${textOf(said.content)}`
    },
  }),
  tool('test_elicitation', {
    description: 'Asks the user for a name and an address',
    input: z.object({ message: z.string() }),
    run: async ({ message }, ctx) => {
      const answer = await ctx.elicitResult('account', { message, schema: account })
      return `User response: ${JSON.stringify(answer)}`
    },
  }),
  tool('test_elicitation_sep1034_defaults', {
    description: 'Asks with a default for every kind of field',
    run: async (_, ctx) => {
      const answer = await ctx.elicitResult('profile', { message: 'Please check your profile', schema: profile })
      return `Elicitation completed: ${JSON.stringify(answer)}`
    },
  }),
  tool('test_elicitation_sep1330_enums', {
    description: 'Asks with every form of choice',
    run: (_, ctx) => {
      const answer = ctx.responses.get('choices')
      return answer === undefined ? askChoices : `Elicitation completed: ${JSON.stringify(answer)}`
    },
  }),
]

/** A prompt that requires input of the client. */
export const askingPrompts = [
  prompt('test_input_required_result_prompt', {
    description: 'Asks the user for a context',
    run: async (_, ctx) => {
      const { context } = await ctx.elicit('user_context', {
        message: 'Which context should the prompt use?',
        schema: contextual,
      })
      return `Answer within this context: ${context}`
    },
  }),
]

const askName = inputRequired({
  requests: {
    user_name: {
      method: 'elicitation/create',
      params: {
        mode: 'form',
        message: 'What is your name?',
        requestedSchema: {
          type: 'object',
          properties: { name: { type: 'string', title: 'Name' } },
          required: ['name'],
        },
      },
    },
  },
})

const askInFull = inputRequired({
  requests: {
    confirm: {
      method: 'elicitation/create',
      params: {
        mode: 'form',
        message: 'Please confirm',
        requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
      },
    },
  },
  state: { since: 'round 1' },
})

/** Returns the text of a model's message. */
function textOf(content: unknown): string {
  return z.looseObject({ type: z.literal('text'), text: z.string() }).safeParse(content).data?.text ?? 'no text'
}
