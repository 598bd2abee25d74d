import { setTimeout } from 'node:timers/promises'
import { type Instance, startBalancer, startInstance } from './balanced-processes.ts'

/** Processes behind a balancer that distributes requests in turn. */
export interface ResumingFleet extends AsyncDisposable {
  readonly url: string
  /** Kills a process and starts another one. */
  replace(index: number): Promise<void>
  /** Freezes a process for three seconds. Its connections stay open. */
  freeze(index: number): Promise<void>
}

const frozenMs = 3000

/** Starts three processes of a program and a balancer. */
export async function startResumingFleet(program: string, environment: NodeJS.ProcessEnv): Promise<ResumingFleet> {
  const instances: Instance[] = await Promise.all([1, 2, 3].map(() => startInstance(program, environment)))
  const balancer = await startBalancer(instances)
  const end = async ({ child, exited }: Instance): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  return {
    url: balancer.url,
    async replace(index) {
      const [old] = instances.splice(index, 1)
      if (old !== undefined) await end(old)
      instances.push(await startInstance(program, environment))
    },
    async freeze(index) {
      const child = instances[index]?.child
      child?.kill('SIGSTOP')
      await setTimeout(frozenMs)
      child?.kill('SIGCONT')
    },
    async [Symbol.asyncDispose]() {
      balancer.stop()
      await Promise.all(instances.map(end))
    },
  }
}
