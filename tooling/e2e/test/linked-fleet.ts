import { setTimeout } from 'node:timers/promises'
import { type Instance, startBalancer, startInstance } from './balanced-processes.ts'

/** Processes behind a balancer that takes turns. */
export interface LinkedFleet extends AsyncDisposable {
  readonly url: string
  /** Kills a process, and starts another in its place. */
  replace(place: number): Promise<void>
  /** Makes a process stand still, with its connections open, for some seconds. */
  freeze(place: number): Promise<void>
}

const frozenMs = 3000

/** Starts three processes of a program. */
export async function startLinkedFleet(program: string, environment: NodeJS.ProcessEnv): Promise<LinkedFleet> {
  const instances: Instance[] = await Promise.all([1, 2, 3].map(() => startInstance(program, environment)))
  const balancer = await startBalancer(instances)
  const end = async ({ child, exited }: Instance): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  return {
    url: balancer.url,
    async replace(place) {
      const [old] = instances.splice(place, 1)
      if (old !== undefined) await end(old)
      instances.push(await startInstance(program, environment))
    },
    async freeze(place) {
      const child = instances[place]?.child
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
