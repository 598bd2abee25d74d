import type { ChildProcess } from 'node:child_process'

/** What an instance finds in its environment. */
export type InstanceEnvironment = Readonly<Record<string, string>>

/** What spreads requests over instances, and starts these so that it can. */
export interface Balancer {
  /** The endpoint that all instances share. */
  readonly url: string
  /** For how long an instance that leaves goes on serving, until nothing is sent to it any more. */
  readonly noticeMs: number
  /** Starts an instance in one of the lanes, which count from 0. */
  start(lane: number, environment: InstanceEnvironment): ChildProcess
  /** Says which lanes have an instance that takes calls. */
  offer(lanes: readonly number[]): void
  stop(): Promise<void>
}

/** Which program spreads the requests. */
export type BalancerName = 'cluster' | 'nginx' | 'haproxy'

/** What a balancer is opened with. */
export interface BalancerSetup {
  /** The port of the endpoint; 0 picks a free one. */
  readonly port: number
  readonly lanes: number
  /** The module that is an instance. */
  readonly module: string
}

/** How Node runs a module that was built: with packages that were built too. */
export const builtArguments = ['--conditions=dist'] as const
