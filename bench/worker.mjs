// One measurement in a separate process: a job in, one line of JSON out.
const job = JSON.parse(process.argv[2])
try {
  const { measure } = await import(`./measurements/${job.scenario.kind}.mjs`)
  answer({ metrics: await measure(job) })
} catch (error) {
  answer(
    error?.constructor?.name === 'MissingExport' ? { skipped: error.message } : { failed: describe(error) },
  )
}

function describe(error) {
  return `${error?.name ?? 'error'}: ${error?.message ?? error}`
}

function answer(result) {
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit())
}
