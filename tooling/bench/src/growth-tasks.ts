import { type Client, createClient } from '@x/client'
import { createCall, type Exchange } from '@x/exchange'
import { createServer, form, tool } from '@x/server'
import { type TasksClient, tasksClient, type TaskHandle } from '@x/tasks/client'
import { memoryEngine } from '@x/tasks/memory'
import type { NewTask, TaskEngine, TaskSuspension } from '@x/tasks'
import { tasks } from '@x/tasks/server'
import * as z from 'zod'
import { answerQuestions } from './peers/serve-measured.ts'
import type { Programs } from './processes.ts'
import type { CpuMeasurement } from './ratios.ts'

/** A question of the benchmark: make a number of tasks that wait for input, or of plain calls. */
export interface TasksQuestion {
  readonly make: 'tasks' | 'calls'
  readonly count: number
}

/** A server with tasks, its clients and its engine in memory. The argument is the number of tasks that wait. */
export const programs: Programs = { server: serveTasks }

type User = Client & { readonly tasks: TasksClient }

const confirmation = form(z.object({ sure: z.boolean() }))
const ask = tool('ask', {
  description: 'Asks a question, and waits for the answer',
  task: 'required',
  run: async (_, ctx) => String((await ctx.elicit('sure', { message: 'Sure?', schema: confirmation })).sure),
})
const plain = tool('plain', { description: 'Returns a text', run: () => 'a text' })

const taskLimit = 1_000_000
let suspensions = 0
let wake: () => void = () => {}

/** The arguments that a server passed to its engine for one task that waits for input. */
const sample: { task?: NewTask; suspension?: TaskSuspension } = {}

function openUsers(engine: TaskEngine): readonly User[] {
  const store: TaskEngine = {
    ...engine,
    create: (task) => {
      sample.task ??= task
      return engine.create(task)
    },
    suspend: async (lease, suspension) => {
      sample.suspension ??= suspension
      const state = await engine.suspend(lease, suspension)
      suspensions += 1
      wake()
      return state
    },
  }
  const { exchange } = createServer({
    name: 'bench',
    version: '1.0.0',
    state: false,
    tools: [ask, plain],
    limits: { tasks: taskLimit },
    extensions: [tasks({ store })],
  })
  // 100 users create the tasks in turn. Their principals are those that a transport would authenticate.
  return Array.from({ length: 100 }, (_, index): User => {
    const principal = { subject: `user-${index}` }
    const asUser: Exchange = (request, call) => exchange(request, createCall({ ...call, principal }))
    const elicit = (): never => {
      throw new Error('the client received the question of a task that must wait')
    }
    return createClient(asUser, { name: 'bench', version: '1.0.0', elicit, extensions: [tasksClient()] })
  })
}

/** Creates tasks, waits until each has suspended at its question, and returns their handles. */
async function makeTasks(users: readonly User[], count: number): Promise<readonly TaskHandle[]> {
  const target = suspensions + count
  const waiting = new Promise<void>((resolve) => {
    wake = () => suspensions === target && resolve()
  })
  const handles: TaskHandle[] = []
  for (let index = 0; index < count; index += 1) {
    const started = await users[index % users.length]?.tasks.start('ask', {})
    if (started?.status !== 'task') throw new Error('a call created no task')
    handles.push(started.task)
  }
  await waiting
  return handles
}

async function makeCalls(users: readonly User[], count: number): Promise<readonly TaskHandle[]> {
  for (let index = 0; index < count; index += 1) await users[index % users.length]?.callTool('plain', {})
  return []
}

/** Stores suspended copies of the sample before a worker uses the engine. */
async function storeCopies(engine: TaskEngine, count: number): Promise<void> {
  const { task, suspension } = sample
  if (task === undefined || suspension === undefined) throw new Error('no task was created before')
  for (let index = 0; index < count; index += 1) {
    const id = `${task.id}-${index}`
    const user = `${task.caller}-${index % 100}`
    await engine.create({ ...task, id, owner: user, caller: user, callerLimit: taskLimit })
    const [lease] = (await engine.claim({ maxClaims: 1, id })).tasks
    if (lease === undefined || (await engine.suspend(lease, suspension)) !== 'owned') throw new Error(`${id} was lost`)
  }
}

async function serveTasks(waiting = '1'): Promise<void> {
  const firstUsers = openUsers(memoryEngine())
  await makeTasks(firstUsers, 1000)
  await makeCalls(firstUsers, 5000)
  const engine = memoryEngine({ maxTasks: taskLimit })
  await storeCopies(engine, Number(waiting))
  const users = openUsers(engine)
  answerQuestions(async ({ make, count }: TasksQuestion): Promise<CpuMeasurement> => {
    const before = process.cpuUsage()
    const handles = make === 'tasks' ? await makeTasks(users, count) : await makeCalls(users, count)
    const { user, system } = process.cpuUsage(before)
    // Cancels the new tasks, so that the next round starts with the same number of waiting tasks.
    for (const handle of handles) await handle.cancel()
    return { cpu: (user + system) / count }
  })
}
