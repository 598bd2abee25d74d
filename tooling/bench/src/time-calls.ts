import type { CpuMeasurement } from './ratios.ts'

/** The cost of a call in microseconds: of the clock, and of CPU of all threads of this process. */
export interface CallTime extends CpuMeasurement {
  readonly elapsed: number
}

/** Calls repeatedly until this process has used some seconds of CPU. Timers run after each batch if it ends a turn. */
export async function timeCalls(
  call: () => unknown,
  seconds: number,
  { batch = 16, endsTurn = false } = {},
): Promise<CallTime> {
  let calls = 0
  let cpu = 0
  const before = process.cpuUsage()
  const start = performance.now()
  while (cpu < seconds * 1e6) {
    for (let index = 0; index < batch; index++) await call()
    calls += batch
    if (endsTurn) await new Promise((resolve) => setImmediate(resolve))
    const { user, system } = process.cpuUsage(before)
    cpu = user + system
  }
  return { elapsed: ((performance.now() - start) * 1000) / calls, cpu: cpu / calls }
}
