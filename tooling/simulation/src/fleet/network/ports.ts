/** The ports of the servers of a simulation, at which balancers accept requests. */
export const ports = { fleet: 3000, gateway: 3001 } as const

export function urlOf(name: keyof typeof ports): string {
  return `http://localhost:${ports[name]}/mcp`
}
