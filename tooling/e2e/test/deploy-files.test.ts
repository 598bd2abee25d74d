import { join } from 'node:path'
import { describeNeeding } from '@tooling/vitest/needs'
import { validate as findDockerfileProblems } from 'dockerfile-utils'
import { parse as parseToml } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { findComposeProblems, requireKubernetesObject, runChecker, textOf } from './deploy-checkers.ts'

/** The notice before a stop, the time for open calls, and a reserve, in milliseconds. */
const stopMs = 3_000 + 10_000 + 5_000

/** What an Ingress needs so that a stream is neither held back nor cut. */
const streaming = { 'nginx.org/proxy-buffering': 'False', 'nginx.org/proxy-read-timeout': '1h' }

const units = ['mcp@.service', 'gateway/mcp-gateway.service']

describe('examples/deploy', () => {
  test('the Dockerfile has no problem, runs as an unprivileged user, and runs Node as process 1', () => {
    expect(findDockerfileProblems(textOf('Dockerfile'))).toEqual([])
    expect(textOf('Dockerfile')).toMatch(/^USER node$/m)
    expect(textOf('Dockerfile')).toMatch(/^CMD \["node", "server\.mjs"\]$/m)
  })

  test.each(['../../apps/ado-work-items', '../../apps/load-shedding', 'gateway'])(
    'the Dockerfile of %s has no problem, runs as an unprivileged user, and runs Node as process 1',
    (folder) => {
      const text = textOf(`${folder}/Dockerfile`)
      expect(findDockerfileProblems(text)).toEqual([])
      expect(text).toMatch(/^USER node$/m)
      expect(text).toMatch(/^CMD \["(?:node|mcpx)", /m)
    },
  )

  test.each(['', 'gateway/'])(
    '%scompose.yaml matches its specification and allows for the time of a stop',
    (folder) => {
      const compose: unknown = parse(textOf(`${folder}compose.yaml`), { merge: true })
      expect(findComposeProblems(compose)).toEqual([])
      expect(compose).toMatchObject({ services: { one: { stop_grace_period: `${stopMs / 1000}s` } } })
    },
  )

  test.each(['', 'gateway/'])('%skubernetes.yaml matches its schemas and allows for the time of a stop', (folder) => {
    const documents = parseAllDocuments(textOf(`${folder}kubernetes.yaml`)).map((document) => document.toJS() as object)
    for (const document of documents) requireKubernetesObject(document)
    expect(documents.length).toBe(5)
    expect(documents[0]).toMatchObject({
      spec: {
        template: {
          spec: {
            terminationGracePeriodSeconds: stopMs / 1000,
            securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
          },
        },
      },
    })
    expect(documents[3]).toMatchObject({ kind: 'Ingress', metadata: { annotations: streaming } })
    expect(documents[4]).toMatchObject({ kind: 'NetworkPolicy', spec: { policyTypes: ['Ingress', 'Egress'] } })
  })

  test('every platform gives an instance a processor and the memory of its limits', () => {
    const memory = {
      'compose.yaml': /mem_limit: 768m/,
      'fly.toml': /memory = '768mb'/,
      'render.yaml': /plan: standard/,
    }
    for (const [name, pattern] of Object.entries(memory)) expect(textOf(name)).toMatch(pattern)
    expect(textOf('gateway/compose.yaml')).toMatch(memory['compose.yaml'])
    for (const name of ['kubernetes.yaml', 'gateway/kubernetes.yaml', 'cloud-run.yaml'])
      expect(textOf(name)).toMatch(/limits: \{.*memory: 768Mi \}/)
    for (const name of units) expect(textOf(name)).toMatch(/^MemoryMax=768M$/m)
  })

  test('systemd sends SIGTERM to the gateway, and not to its upstreams [ROB-001]', () => {
    expect(textOf('gateway/mcp-gateway.service')).toMatch(/^KillMode=mixed$/m)
  })

  test('fly.toml and render.yaml allow for the time of a stop and check readiness', () => {
    expect(parseToml(textOf('fly.toml'))).toMatchObject({
      kill_timeout: `${stopMs / 1000}s`,
      http_service: { internal_port: 3000, checks: [{ path: '/readyz' }] },
    })
    expect(parse(textOf('render.yaml'))).toMatchObject({
      services: [{ maxShutdownDelaySeconds: stopMs / 1000, healthCheckPath: '/readyz' }],
    })
  })

  test('cloud-run.yaml gives an instance a processor between requests, for tasks', () => {
    expect(parse(textOf('cloud-run.yaml'))).toMatchObject({
      spec: { template: { metadata: { annotations: { 'run.googleapis.com/cpu-throttling': 'false' } } } },
    })
  })
})

// nginx resolves the host names of a container network at its start, so they are replaced by loopback addresses.
const useLoopback = (text: string): string =>
  `pid nginx.pid; error_log stderr;\n${text.replaceAll(/\b(one|two):3000/g, '127.0.0.1:3000')}`

describeNeeding('haproxy', 'haproxy.cfg', (program) => {
  test('is valid', () => runChecker('haproxy.cfg', (path) => [program, '-c', '-f', path]))
})

describeNeeding('caddy', 'the Caddyfile', (program) => {
  const validate = (path: string) => [program, 'validate', '--adapter', 'caddyfile', '--config', path]

  test('is valid', () => runChecker('Caddyfile', validate))

  test('is validated, so that an unknown word is rejected', async () => {
    const change = (text: string): string => text.replace('lb_try_duration', 'lb_try_time')
    await expect(runChecker('Caddyfile', validate, change)).rejects.toThrow('lb_try_time')
  })
})

describeNeeding('nginx', 'nginx.conf', (program) => {
  const check = (path: string) => [program, '-t', '-p', join(path, '..'), '-c', path, '-e', 'stderr']

  test('is valid', () => runChecker('nginx.conf', check, useLoopback))
})

describeNeeding('systemd', 'the unit', (program) => {
  test.each(units)('%s is valid, exposes at most 4.0, and allows for the time of a stop', async (name) => {
    await runChecker(name, (path) => [program, 'verify', path])
    await runChecker(name, (path) => [program, 'security', '--offline=true', '--threshold=40', path])
    expect(textOf(name)).toMatch(new RegExp(`^TimeoutStopSec=${stopMs / 1000}$`, 'm'))
  })

  test.each(units)('%s is killed by no filter: Node makes calls at its start that the filter refuses', (name) => {
    expect(textOf(name)).toMatch(/^SystemCallErrorNumber=EPERM$/m)
  })
})

test('every file that the README names exists', () => {
  const names = [
    ...textOf('README.md').matchAll(
      /`([\w/@-]+\.(?:mjs|json|yaml|cfg|conf|toml|jsonc|service)|Caddyfile|Dockerfile)`/g,
    ),
  ]
  expect(names.length).toBeGreaterThan(15)
  for (const [, name = ''] of names) expect(textOf(name)).not.toBe('')
})
