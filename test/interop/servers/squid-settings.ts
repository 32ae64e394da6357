/** What every Squid of the tests has in common: nothing outside of its folder, and no delay at its end. */
export const squidSettings = (folder: string): string => `cache_mem 8 MB
access_log none
cache_store_log none
cache_log /dev/stderr
pid_filename none
pinger_enable off
coredump_dir ${folder}
shutdown_lifetime 0 seconds
max_filedescriptors 1024
`

/** The name is that of its shared memory, which must not be that of another Squid. */
export const squidArguments = (file: string, port: number): string[] => [
  '-N',
  '-f',
  file,
  '-n',
  `interop${port}`,
]
