import { createServer, form, resourceNotFoundError, resourceTemplate, sealedState, tool, ToolError } from '@x/server'
import { tasks } from '@x/tasks/server'
import * as z from 'zod'
import {
  assignIssue,
  closeIssue,
  findIssue,
  insertComment,
  insertIssue,
  type Issue,
  pageOfIssues,
  selectIssues,
} from './issues.ts'

const id = z.number().int().describe('The number of the issue')
const issue = z.object({
  id: z.number(),
  title: z.string(),
  state: z.enum(['open', 'closed']),
  assignee: z.string().nullable(),
  resolution: z.string().nullable(),
})
const uriOf = (number: number): string => `issue://${number}`

async function requireIssue(number: number): Promise<Issue> {
  const found = await findIssue(number)
  if (found === undefined) throw new ToolError(`There is no issue ${number}`)
  return found
}

const titleForm = form(z.object({ title: z.string().min(3).max(200).describe('A summary of the problem in one line') }))

const createIssue = tool('create_issue', {
  description: 'Creates an issue, and asks the user for a missing title',
  input: z.object({ title: z.string().optional() }),
  output: issue,
  async run({ title }, ctx) {
    const answer = title ? { title } : await ctx.elicit('title', { message: 'What is wrong?', schema: titleForm })
    const created = await ctx.step('insert', ({ idempotencyKey }) => insertIssue(answer.title, idempotencyKey))
    await ctx.notifyListChanged('resources')
    return created
  },
})

const findIssues = tool('find_issues', {
  description: 'Finds issues by their state, or those of one person',
  input: z.discriminatedUnion('by', [
    z.object({ by: z.literal('state'), state: z.enum(['open', 'closed']) }),
    z.object({ by: z.literal('assignee'), assignee: z.string() }),
  ]),
  output: z.object({ issues: z.array(issue) }),
  annotations: { readOnlyHint: true },
  run: async (query) => ({
    issues: await (query.by === 'state'
      ? selectIssues('state', query.state)
      : selectIssues('assignee', query.assignee)),
  }),
})

const assign = tool('assign_issue', {
  description: 'Assigns an issue to a person',
  input: z.object({ id, assignee: z.string() }),
  output: issue,
  annotations: { idempotentHint: true },
  async run({ id: number, assignee }, ctx) {
    const assigned = await assignIssue(number, assignee)
    if (assigned === undefined) throw new ToolError(`There is no issue ${number}`)
    await ctx.notifyResourceUpdated(uriOf(number))
    return assigned
  },
})

const comment = tool('comment_issue', {
  description: 'Comments on an issue',
  input: z.object({ id, body: z.string().max(10_000) }),
  async run({ id: number, body }, ctx) {
    await requireIssue(number)
    await ctx.step('insert', ({ idempotencyKey }) => insertComment(number, body, idempotencyKey))
    return `Commented on issue ${number}`
  },
})

const resolutionForm = form(
  z.object({
    resolution: z.enum(['fixed', 'duplicate', 'will not fix']),
    note: z.string().max(500).optional().describe('A note for other users'),
  }),
)

const close = tool('close_issue', {
  description: 'Closes an issue, and asks the user how it was resolved',
  input: z.object({ id }),
  output: issue,
  async run({ id: number }, ctx) {
    const { title, state } = await ctx.step('issue', () => requireIssue(number))
    if (state === 'closed') throw new ToolError(`Issue ${number} is closed already`)
    const { resolution, note } = await ctx.elicit('resolution', {
      message: `How was "${title}" resolved?`,
      schema: resolutionForm,
    })
    const closed = await ctx.step('close', () => closeIssue(number, resolution))
    if (note !== undefined) {
      await ctx.step('note', ({ idempotencyKey }) => insertComment(number, note, idempotencyKey))
    }
    await ctx.notifyResourceUpdated(uriOf(number))
    return closed
  },
})

const importIssues = tool('import_issues', {
  description: 'Imports issues, one for each title, as a long-running call',
  input: z.object({ titles: z.array(z.string()).max(1000) }),
  output: z.object({ ids: z.array(z.number()) }),
  task: 'allowed',
  async run({ titles }, ctx) {
    const done = ctx.checkpoint<{ ids: number[] }>('done', { ids: [] })
    while (done.value.ids.length < titles.length) {
      const { ids } = done.value
      ctx.progress(ids.length, titles.length, 'imported')
      const [title = '', key] = [titles[ids.length], `${ctx.uuid('import')}/${ids.length}`]
      const created = await insertIssue(title, key)
      await done.save({ ids: [...ids, created.id] })
    }
    await ctx.notifyListChanged('resources')
    return done.value
  },
})

const issues = resourceTemplate('issue://{id}', {
  name: 'Issue',
  mimeType: 'application/json',
  async list(_, cursor = '0') {
    const page = await pageOfIssues(Number.parseInt(cursor, 10) || 0, 50)
    const last = page.length === 50 ? page.at(-1) : undefined
    return {
      resources: page.map(({ id: number, title }) => ({ uri: uriOf(number), name: title })),
      nextCursor: last && String(last.id),
    }
  },
  async read({ id: number }) {
    const found = await findIssue(Number.parseInt(number, 10) || 0)
    if (found === undefined) throw resourceNotFoundError(`issue://${number}`)
    return JSON.stringify(found)
  },
})

export const server = createServer({
  name: 'issue-tracker',
  version: '1.0.0',
  instructions: 'Look for an issue before you create one.',
  tools: [createIssue, findIssues, assign, comment, close, importIssues],
  resourceTemplates: [issues],
  state: sealedState({ keys: (process.env.STATE_KEYS ?? '').split(',') }),
  extensions: [tasks({ store: process.env.DATABASE_URL })],
})
