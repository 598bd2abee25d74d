import type { ChildProcess } from 'node:child_process'

/** The environment of an instance. */
export type InstanceEnvironment = Readonly<Record<string, string>>

/** Starts instances and distributes requests over them. */
export interface Balancer {
  /** The endpoint that all instances share. */
  readonly url: string
  /** The time for which a leaving instance still serves, until it receives no more requests. */
  readonly noticeMs: number
  /** Starts an instance in one of the lanes, which count from 0. */
  start(lane: number, environment: InstanceEnvironment): ChildProcess
  /** Says which lanes have an instance that takes calls. */
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
  /** The module that is an instance. */
  readonly module: string
}

/** The arguments with which Node runs a built module, with built packages too. */
export const builtArguments = ['--conditions=dist'] as const
