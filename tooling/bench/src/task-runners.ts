import { createClient } from '@x/client'
import { createCall, type Exchange } from '@x/exchange'
import { createServer, tool } from '@x/server'
import type { TaskEngine } from '@x/tasks'
import { type TaskHandle, tasksClient } from '@x/tasks/client'
import { postgresEngine } from '@x/tasks/postgres'
import { tasks } from '@x/tasks/server'
import { PgBoss } from 'pg-boss'
import * as z from 'zod'

/** A system that runs work in the background. Each piece of work has a token, and the result `did TOKEN`. */
interface Runner {
  /** Creates one task or job, and resolves when it is stored. */
  create(token: string): Promise<void>
  /** Resolves when all results are stored. */
  ended(tokens: readonly string[]): Promise<void>
  /** Returns the stored result. */
  resultOf(token: string): Promise<unknown>
  close(): Promise<void>
}

/** Opens a runner. Its work counts its runs. */
export type OpenRunner = (url: string, run: (token: string) => string) => Promise<Runner>

/** The number of clients, each of its own user. */
export const clients = 16
/** The number of tasks or jobs that run at once. */
export const concurrency = 16

/** Waits for names that become complete, and rejects when the work fails. */
interface Completions {
  complete(name: string): void
  fail(error: unknown): void
  all(names: readonly string[]): Promise<void>
}

function createCompletions(): Completions {
  const completed = new Set<string>()
  let failure: Error | undefined
  let check = (): void => {}
  return {
    complete(name) {
      completed.add(name)
      check()
    },
    fail(error) {
      failure = new Error('the work failed, so the measurement is invalid', { cause: error })
      check()
    },
    all: (names) =>
      new Promise((resolve, reject) => {
        check = () => {
          if (failure !== undefined) reject(failure)
          else if (names.every((name) => completed.has(name))) resolve()
        }
        check()
      }),
  }
}

const names = { name: 'bench', version: '1.0.0' } as const

/** Opens a server with tasks, and its clients in memory. */
export async function openTasks(url: string, run: (token: string) => string): Promise<Runner> {
  const ends = createCompletions()
  const log = ({
    level,
    err,
    message,
  }: {
    readonly level: string
    readonly err?: unknown
    readonly message: string
  }): void => {
    if (level === 'error') ends.fail(err ?? message)
  }
  const engine = postgresEngine(url, { log })
  const store: TaskEngine = {
    ...engine,
    finish: async (lease, end) => {
      const written = await engine.finish(lease, end)
      if (written) ends.complete(lease.id)
      return written
    },
  }
  const work = tool('work', {
    description: 'Runs one step',
    input: z.object({ token: z.string() }),
    task: 'allowed',
    run: ({ token }, ctx) => ctx.step('work', () => run(token)),
  })
  const extensions = [tasks({ concurrency, store })] as const
  const server = createServer({ ...names, state: false, strictReplay: false, log, tools: [work], extensions })
  const users = Array.from({ length: clients }, (_, index) => {
    const principal = { subject: `user-${index}` }
    const asUser: Exchange = (request, call) => server.exchange(request, createCall({ ...call, principal }))
    return createClient(asUser, { ...names, extensions: [tasksClient({ follow: 'listen' })] })
  })
  const handles = new Map<string, TaskHandle>()
  const idOf = (token: string): string => handles.get(token)?.taskId ?? ''
  return {
    create: async (token) => {
      const started = await users[handles.size % clients]?.tasks.start('work', { token })
      if (started?.status !== 'task') throw new Error(`the call of ${token} created no task`)
      handles.set(token, started.task)
    },
    ended: (tokens) => ends.all(tokens.map(idOf)),
    resultOf: async (token) => {
      const state = await handles.get(token)?.status()
      return state?.status === 'completed' ? textOf(state.result['content']) : state?.status
    },
    close: () => server.close({ graceMs: 1000 }),
  }
}

function textOf(content: unknown): unknown {
  const [first]: readonly unknown[] = Array.isArray(content) ? content : []
  return typeof first === 'object' && first !== null && 'text' in first ? first.text : undefined
}

/** Opens pg-boss alone, with the fastest configuration of its documentation. */
export async function openBoss(url: string, run: (token: string) => string): Promise<Runner> {
  const queue = 'alone'
  const ends = createCompletions()
  const ids = new Map<string, string>()
  const boss = new PgBoss({ schema: 'alone', useListenNotify: true, schedule: false, connectionString: url })
  boss.on('error', ends.fail)
  await boss.start()
  await boss.createQueue(queue, { notify: true })
  const handle = (token: string): { readonly text: string } => {
    const text = run(token)
    ends.complete(token)
    return { text }
  }
  const options = { batchSize: concurrency, burstWhenBatchFull: true, perJobResults: true } as const
  const begin = (): Promise<unknown> =>
    boss.work<{ token: string }, unknown, typeof options>(queue, options, async (jobs) =>
      jobs.map(({ id, data }) => ({ id, status: 'completed', output: handle(data.token) }) as const),
    )
  await begin()
  return {
    create: async (token) => {
      const id = await boss.send(queue, { token })
      if (id === null) throw new Error(`pg-boss did not accept the job of ${token}`)
      ids.set(token, id)
    },
    ended: async (tokens) => {
      await ends.all(tokens)
      // Only a worker that stops waits until its jobs are completed.
      await boss.offWork(queue)
      await begin()
    },
    resultOf: async (token) => {
      const [job] = await boss.findJobs<{ token: string }>(queue, { id: ids.get(token) ?? '' })
      return job?.state === 'completed' ? textOf([job.output]) : job?.state
    },
    close: () => boss.stop({ graceful: false }),
  }
}
