import { createServer, prompt, resource, resourceTemplate, tool } from '@x/server'
import * as z from 'zod'

// Results in the form of the specification, which authors of other SDKs return first. Each compiles.

const description = 'Echoes'
const input = z.object({ text: z.string() })

export const tools = [
  tool('arrow', { description, run: () => ({ content: [{ type: 'text', text: 'done' }] }) }),
  tool('method', {
    description,
    run() {
      return { content: [{ type: 'text', text: 'done' }] }
    },
  }),
  tool('async_arrow', { description, run: async () => ({ content: [{ type: 'text', text: 'done' }] }) }),
  tool('async_method', {
    description,
    async run() {
      return { content: [{ type: 'text', text: 'done' }] }
    },
  }),
  tool('arrow_with_input', { description, input, run: ({ text }) => ({ content: [{ type: 'text', text }] }) }),
  tool('method_with_input', {
    description,
    input,
    run({ text }) {
      return { content: [{ type: 'text', text }] }
    },
  }),
  tool('async_arrow_with_input', {
    description,
    input,
    run: async ({ text }) => ({ content: [{ type: 'text', text }] }),
  }),
  tool('async_method_with_input', {
    description,
    input,
    async run({ text }, ctx) {
      ctx.progress(1)
      return { content: [{ type: 'text', text }] }
    },
  }),
  tool('failure', {
    description,
    input,
    run: ({ text }) => ({ content: [{ type: 'text', text }], isError: true }),
  }),
  tool('failure_or_not', {
    description,
    input,
    async run({ text }) {
      if (text === '') return { content: [{ type: 'text', text: 'empty' }], isError: true }
      return { content: [{ type: 'text', text }] }
    },
  }),
  tool('several_blocks', {
    description,
    input,
    run: ({ text }) => ({ content: [...text].map((letter) => ({ type: 'text', text: letter })) }),
  }),
]

export const prompts = [
  prompt('arrow', { run: () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'done' } }] }) }),
  prompt('async_method', {
    input,
    async run({ text }) {
      return { description, messages: [{ role: 'user', content: { type: 'text', text } }] }
    },
  }),
]

export const server = createServer({
  name: 'results',
  version: '1.0.0',
  tools,
  prompts,
  resources: [
    resource('results://arrow', {
      name: 'Arrow',
      read: () => ({ contents: [{ uri: 'results://arrow', mimeType: 'text/plain', text: 'done' }] }),
    }),
  ],
  resourceTemplates: [
    resourceTemplate('results://texts/{text}', {
      name: 'Text',
      async read({ text }) {
        return { contents: [{ uri: `results://texts/${text}`, text }] }
      },
    }),
  ],
})
