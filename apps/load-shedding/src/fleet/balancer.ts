import type { ChildProcess } from 'node:child_process'

/** The environment variables of an instance. */
export type InstanceEnvironment = Readonly<Record<string, string>>

/** Starts instances and distributes requests among them. */
export interface Balancer {
  /** The URL of the endpoint that all instances share. */
  readonly url: string
  /** The time in milliseconds until a draining instance receives no more requests. It serves requests for as long. */
  readonly noticeMs: number
  /** Starts an instance in a lane. The first lane is 0. */
  start(lane: number, environment: InstanceEnvironment): ChildProcess
  /** Replaces the list of lanes whose instances accept requests. */
  setReadyLanes(lanes: readonly number[]): void
  stop(): Promise<void>
}

/** The program that distributes the requests. */
export type BalancerName = 'cluster' | 'nginx' | 'haproxy'

/** Options of a balancer. */
export interface BalancerOptions {
  /** The port of the endpoint; 0 picks a free one. */
  readonly port: number
  readonly lanes: number
  /** The path of the module that runs an instance. */
  readonly module: string
}

/** The Node arguments that run a built module with built packages. */
export const builtArguments = ['--conditions=dist'] as const
