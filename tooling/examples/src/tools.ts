import { tool, ToolError } from '@x/server'
import * as z from 'zod'

export const greet = tool('greet', {
  description: 'Greets a user by name',
  input: z.object({ name: z.string().min(1) }),
  annotations: { readOnlyHint: true },
  run: ({ name }) => `Hello, ${name}!`,
})

// #region structured
export const divide = tool('divide', {
  description: 'Divides one number by another',
  input: z.object({ dividend: z.number(), divisor: z.number() }),
  output: z.object({ quotient: z.number() }),
  run({ dividend, divisor }) {
    if (divisor !== 0) return { quotient: dividend / divisor }
    throw new ToolError('The divisor must not be 0')
  },
})
// #endregion

// #region context
export const copy = tool('copy', {
  description: 'Copies files, and reports its progress',
  input: z.object({ files: z.array(z.string()) }),
  async run({ files }, ctx) {
    for (const [index, file] of files.entries()) {
      ctx.signal.throwIfAborted()
      ctx.progress(index, files.length, `copying ${file}`)
      ctx.log('info', { file })
      await Promise.resolve(file)
    }
    return `Copied ${files.length} files for ${ctx.principal?.subject ?? 'an unknown user'}`
  },
})
// #endregion

export const echo = tool('echo', {
  description: 'Returns its text',
  input: { type: 'object', properties: { text: { type: 'string', maxLength: 1000 } }, required: ['text'] },
  run: ({ text }) => String(text),
})

// #region visible
export const shutDown = tool('shut_down', {
  description: 'Stops the machine',
  visibleTo: (principal) => principal?.scopes?.includes('admin') === true,
  run: () => 'Stopping',
})
// #endregion

export const query = tool('query', {
  description: 'Runs a query in one region',
  input: {
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, query: { type: 'string' } },
    required: ['region', 'query'],
  },
  run: ({ region }) => `Ran in ${String(region)}`,
})
