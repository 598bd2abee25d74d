import { type PinnedProcess, startPinned } from '../pinned-process.ts'
import { measureRounds, medianOf } from '../alternating-rounds.ts'
import type { Chart } from './chart.ts'
import type { TasksAnswer, TasksQuestion } from './tasks-program.ts'

type TasksProgram = PinnedProcess<TasksQuestion, TasksAnswer>

interface Target {
  readonly name: string
  readonly program: TasksProgram
}

interface Measurement {
  readonly task: number
  readonly call: number
}

const sizes = [1, 10, 100, 1000, 10_000, 100_000]

/** Measures the CPU of one more task up to its question, and of a plain call, by the number of tasks that wait. */
export async function measureTasks(rounds: number): Promise<Chart> {
  const targets: Target[] = []
  try {
    for (const size of sizes) {
      const child = await startPinned<TasksQuestion, TasksAnswer>(program, 0, { TASKS: String(size) })
      targets.push({ name: String(size), program: child })
    }
    const measured = await measureRounds(targets, rounds, measureOne)
    const microseconds = (of: (measurement: Measurement) => number): readonly number[] =>
      targets.map(({ name }) => medianOf(measured, name, of))
    return {
      title: 'CPU in us, by tasks that wait for an answer',
      sizes: ['1', '10', '100', '1k', '10k', '100k'],
      logarithmic: false,
      lines: [
        { name: 'one more task', values: microseconds(({ task }) => task) },
        { name: 'a plain call', values: microseconds(({ call }) => call) },
      ],
    }
  } finally {
    await Promise.all(targets.map(({ program: child }) => child.stop()))
  }
}

const program = 'growth/tasks-program.js'

async function measureOne({ program: child }: Target): Promise<Measurement> {
  const tasks = await child.ask({ make: 'tasks', count: 100 })
  const calls = await child.ask({ make: 'calls', count: 2000 })
  return { task: tasks.cpuMicroseconds / 100, call: calls.cpuMicroseconds / 2000 }
}
