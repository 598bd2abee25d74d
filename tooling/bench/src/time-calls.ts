import type { CpuMeasurement } from './ratios.ts'

/** The cost of a call in microseconds: of the clock, and of CPU of all threads of this process. */
export interface CallTime extends CpuMeasurement {
  readonly elapsed: number
}

/** Calls repeatedly until this process has used some seconds of CPU. */
export async function timeCalls(call: () => unknown, seconds: number): Promise<CallTime> {
  let calls = 0
  let cpu = 0
  const before = process.cpuUsage()
  const start = performance.now()
  while (cpu < seconds * 1e6) {
    for (let index = 0; index < 16; index++) await call()
    calls += 16
    const { user, system } = process.cpuUsage(before)
    cpu = user + system
  }
  return { elapsed: ((performance.now() - start) * 1000) / calls, cpu: cpu / calls }
}
