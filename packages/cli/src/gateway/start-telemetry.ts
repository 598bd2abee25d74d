import { createLog, runtimeOf, settlesWithin } from '@x/core'
import type { ServerExtension } from '@x/exchange'
import type { GatewayOptions } from '@x/gateway'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'

/**
 * These variables of OpenTelemetry say where telemetry goes. Others, such as `OTEL_SERVICE_NAME`, may be set for every
 * program of a machine.
 */
const destinations = /^OTEL_(?:EXPORTER_OTLP_(?:TRACES_|METRICS_)?ENDPOINT|(?:TRACES|METRICS)_EXPORTER|CONFIG_FILE)$/

/** A collector that does not answer must not delay the stop. */
const flushTimeoutMs = 2000

/**
 * Starts the SDK of OpenTelemetry if its standard variables name a destination. Returns the extensions that measure a
 * server, and send what is left when it closes.
 */
export async function startOpenTelemetrySdk(
  { env }: CliIo,
  { name, log }: Pick<GatewayOptions, 'name' | 'log'>,
): Promise<readonly ServerExtension[]> {
  const isDisabled = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true'
  const isOn = Object.entries(env).some(([variable, value]) => destinations.test(variable) && value)
  if (isDisabled || !isOn) return []
  const { api, sdk } = await importSdk()
  const write = createLog(log, 'mcpx')
  const logAs = (level: 'warn' | 'error') => (message: string) => write({ level, code: 'telemetry', message })
  const ignore = (): void => {}
  const logger = { error: logAs('error'), warn: logAs('warn'), info: ignore, debug: ignore, verbose: ignore }
  // Otherwise an unreachable collector would remain unseen.
  api.diag.setLogger(logger, api.DiagLogLevel.WARN)
  const node = new sdk.NodeSDK(env['OTEL_SERVICE_NAME'] ? {} : { serviceName: name })
  node.start()
  const { telemetry } = await import('@x/server/otel')
  const close = async (): Promise<void> =>
    void (await settlesWithin(node.shutdown(), flushTimeoutMs, runtimeOf(undefined)))
  return [telemetry(), { extends: 'server', name: 'telemetrySdk', start: () => ({ close }) }]
}

async function importSdk() {
  try {
    return { api: await import('@opentelemetry/api'), sdk: await import('@opentelemetry/sdk-node') }
  } catch (cause) {
    const message =
      'The OTEL_ variables ask for telemetry: npm install @opentelemetry/api @opentelemetry/sdk-node beside @x/cli'
    throw new CliError('usage', message, { cause })
  }
}
