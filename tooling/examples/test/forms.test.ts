import { createServer, tool } from '@x/server'
import { testClient } from '@x/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { answerForm } from '../src/client-questions.ts'

test('a form is shown again with its problems until it is valid', async () => {
  const order = tool('order', {
    description: 'Orders cups',
    run: async (_, ctx) => {
      const { cups } = await ctx.elicit('cups', { message: 'How many?', schema: z.object({ cups: z.int().min(1) }) })
      return `${cups} cups`
    },
  })
  const shown: unknown[] = []
  await using client = testClient((kit) => createServer({ name: 'shop', version: '1.0.0', tools: [order], ...kit }), {
    elicit: (question) =>
      answerForm(question, async (fields, issues) => {
        shown.push([fields.map(({ label }) => label), [...issues]])
        return { cups: issues.size > 0 ? 2 : 0 }
      }),
  })
  expect((await client.callTool('order', {})).content).toEqual([{ type: 'text', text: '2 cups' }])
  expect(shown).toEqual([
    [['Cups'], []],
    [['Cups'], [['cups', 'Write at least 1']]],
  ])
})
