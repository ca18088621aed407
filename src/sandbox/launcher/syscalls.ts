/**
 * The kernel's calls by name, in classes: those a confined program may use, and those it may not, with the reason. Data only. A call that
 * stands nowhere here is newer than this table and is answered with "not implemented", which programs know from older kernels.
 */

/** Numbers of one processor. */
export type CallNumbers = ReadonlyMap<string, number>;

/** Each entry: name, number on x64, number on arm64; `-` where the processor does not have it. */
type CallTable = string;

/** Plain work on own files, own memory, own children and open descriptors. */
const ALLOWED: CallTable = `
  read 0 63, write 1 64, close 3 57, stat 4 -, fstat 5 80, lstat 6 -, poll 7 -, lseek 8 62, mmap 9 222, mprotect 10 226,
  munmap 11 215, brk 12 214, rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, pread64 17 67, pwrite64 18 68,
  readv 19 65, writev 20 66, access 21 -, pipe 22 -, select 23 -, sched_yield 24 124, mremap 25 216, msync 26 227, mincore 27 232,
  madvise 28 233, dup 32 23, dup2 33 -, pause 34 -, nanosleep 35 101, getitimer 36 102, alarm 37 -, setitimer 38 103,
  getpid 39 172, sendfile 40 71, recvfrom 45 207, recvmsg 47 212, shutdown 48 210, getsockname 51 204, getpeername 52 205,
  setsockopt 54 208, getsockopt 55 209, fork 57 -, vfork 58 -, execve 59 221, exit 60 93, wait4 61 260, kill 62 129, uname 63 160,
  fcntl 72 25, flock 73 32, fsync 74 82, fdatasync 75 83, truncate 76 45, ftruncate 77 46, getdents 78 -, getcwd 79 17,
  chdir 80 49, fchdir 81 50, rename 82 -, mkdir 83 -, rmdir 84 -, link 86 -, unlink 87 -, symlink 88 -, readlink 89 -, chown 92 -,
  fchown 93 55, lchown 94 -, umask 95 166, gettimeofday 96 169, getrlimit 97 163, getrusage 98 165, sysinfo 99 179, times 100 153,
  getuid 102 174, getgid 104 176, setuid 105 146, setgid 106 144, geteuid 107 175, getegid 108 177, setpgid 109 154,
  getppid 110 173, getpgrp 111 -, setsid 112 157, setreuid 113 145, setregid 114 143, getgroups 115 158, setgroups 116 159,
  setresuid 117 147, getresuid 118 148, setresgid 119 149, getresgid 120 150, getpgid 121 155, setfsuid 122 151, setfsgid 123 152,
  getsid 124 156, capget 125 90, capset 126 91, rt_sigpending 127 136, rt_sigtimedwait 128 137, rt_sigqueueinfo 129 138,
  rt_sigsuspend 130 133, sigaltstack 131 132, utime 132 -, statfs 137 43, fstatfs 138 44, getpriority 140 141,
  sched_getparam 143 121, sched_getscheduler 145 120, sched_get_priority_max 146 125, sched_get_priority_min 147 126,
  sched_rr_get_interval 148 127, mlock 149 228, munlock 150 229, munlockall 152 231, prctl 157 167, arch_prctl 158 -,
  sync 162 81, gettid 186 178, readahead 187 213, getxattr 191 8, lgetxattr 192 9, fgetxattr 193 10,
  listxattr 194 11, llistxattr 195 12, flistxattr 196 13, tkill 200 130, time 201 -, futex 202 98, sched_getaffinity 204 123,
  io_setup 206 0, io_destroy 207 1, io_getevents 208 4, io_submit 209 2, io_cancel 210 3, epoll_create 213 -, getdents64 217 61,
  set_tid_address 218 96, restart_syscall 219 128, fadvise64 221 223, timer_create 222 107, timer_settime 223 110,
  timer_gettime 224 108, timer_getoverrun 225 109, timer_delete 226 111, clock_gettime 228 113, clock_getres 229 114,
  clock_nanosleep 230 115, exit_group 231 94, epoll_wait 232 -, epoll_ctl 233 21, tgkill 234 131, utimes 235 -, waitid 247 95,
  ioprio_get 252 31, inotify_init 253 -, inotify_add_watch 254 27, inotify_rm_watch 255 28, mkdirat 258 34, fchownat 260 54,
  futimesat 261 -, newfstatat 262 79, unlinkat 263 35, renameat 264 38, linkat 265 37, symlinkat 266 36, readlinkat 267 78,
  faccessat 269 48, pselect6 270 72, ppoll 271 73, set_robust_list 273 99, get_robust_list 274 100, splice 275 76, tee 276 77,
  sync_file_range 277 84, vmsplice 278 75, utimensat 280 88, epoll_pwait 281 22, signalfd 282 -, timerfd_create 283 85,
  eventfd 284 -, fallocate 285 47, timerfd_settime 286 86, timerfd_gettime 287 87, signalfd4 289 74, eventfd2 290 19,
  epoll_create1 291 20, dup3 292 24, pipe2 293 59, inotify_init1 294 26, preadv 295 69, pwritev 296 70, rt_tgsigqueueinfo 297 240,
  recvmmsg 299 243, syncfs 306 267, getcpu 309 168, sched_getattr 315 275, renameat2 316 276, seccomp 317 277, getrandom 318 278,
  memfd_create 319 279, execveat 322 281, membarrier 324 283, mlock2 325 284, copy_file_range 326 285, preadv2 327 286,
  pwritev2 328 287, pkey_mprotect 329 288, pkey_alloc 330 289, pkey_free 331 290, statx 332 291, io_pgetevents 333 292,
  rseq 334 293, pidfd_send_signal 424 424, pidfd_open 434 434, close_range 436 436, faccessat2 439 439, epoll_pwait2 441 441,
  landlock_create_ruleset 444 444, landlock_add_rule 445 445, landlock_restrict_self 446 446, futex_waitv 449 449,
  getxattrat 464 464, listxattrat 465 465, file_getattr 468 468`;

/** Allowed or not by what they are called with: seccomp.ts says how. */
const BY_ARGUMENT: CallTable = `
  socket 41 198, socketpair 53 199, connect 42 203, bind 49 200, listen 50 201, accept 43 202, accept4 288 242,
  sendto 44 206, sendmsg 46 211, sendmmsg 307 269, clone 56 220, prlimit64 302 261, setrlimit 160 164, setpriority 141 140, ioprio_set 251 30,
  sched_setaffinity 203 122, sched_setscheduler 144 119, sched_setparam 142 118, sched_setattr 314 274, ioctl 16 29,
  chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, open 2 -, openat 257 56, creat 85 -,
  mknod 133 -, mknodat 259 33`;

/** Views and namespaces: whoever makes a new one has capabilities in it, and the kernel behind them is a large target. */
const NAMESPACES: CallTable = `
  unshare 272 97, setns 308 268, mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, open_tree 428 428,
  open_tree_attr 467 467, move_mount 429 429, fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433,
  mount_setattr 442 442, statmount 457 457, listmount 458 458`;

/** Memory and descriptors of other processes. */
const OTHER_PROCESSES: CallTable = `
  ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, kcmp 312 272, pidfd_getfd 438 438, process_madvise 440 440,
  process_mrelease 448 448, migrate_pages 256 238, move_pages 279 239`;

/** Programs for the kernel, ways around the checks of other calls (io_uring), and matters of the whole machine. */
const KERNEL: CallTable = `
  bpf 321 280, perf_event_open 298 241, userfaultfd 323 282, io_uring_setup 425 425, io_uring_enter 426 426,
  io_uring_register 427 427, init_module 175 105, finit_module 313 273, delete_module 176 106, create_module 174 -,
  get_kernel_syms 177 -, query_module 178 -, kexec_load 246 104, kexec_file_load 320 294, reboot 169 142, syslog 103 116,
  lookup_dcookie 212 18, iopl 172 -, ioperm 173 -, modify_ldt 154 -, vserver 236 -, _sysctl 156 -, uselib 134 -,
  personality 135 92, acct 163 89, swapon 167 224, swapoff 168 225, quotactl 179 60, quotactl_fd 443 443, nfsservctl 180 42,
  sysfs 139 -, ustat 136 -, memfd_secret 447 447, lsm_set_self_attr 460 460, remap_file_pages 216 234, vhangup 153 58,
  settimeofday 164 170, clock_settime 227 112, adjtimex 159 171, clock_adjtime 305 266, sethostname 170 161,
  setdomainname 171 162, mbind 237 235, set_mempolicy 238 237, get_mempolicy 239 236, set_mempolicy_home_node 450 450,
  mlockall 151 230`;

/** Keys and messages that everything of one user shares, whatever folder or pid namespace it is in. */
const SHARED_BY_USER: CallTable = `
  add_key 248 217, request_key 249 218, keyctl 250 219, shmget 29 194, shmat 30 196, shmctl 31 195, shmdt 67 197, semget 64 190,
  semop 65 193, semctl 66 191, semtimedop 220 192, msgget 68 186, msgsnd 69 189, msgrcv 70 188, msgctl 71 187, mq_open 240 180,
  mq_unlink 241 181, mq_timedsend 242 182, mq_timedreceive 243 183, mq_notify 244 184, mq_getsetattr 245 185`;

/** Files by handle, which needs no path, and watching whole file systems. */
const FILE_HANDLES: CallTable = `name_to_handle_at 303 264, open_by_handle_at 304 265, fanotify_init 300 262, fanotify_mark 301 263`;

/** Marks on files: Landlock does not watch them outside of the allowed folders. Programs know file systems without them. */
const FILE_MARKS: CallTable = `
  setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16,
  setxattrat 463 463, removexattrat 466 466, file_setattr 469 469`;

/** What they ask for lies in memory, where a filter cannot look; every program falls back to the older call. */
const UNREADABLE: CallTable = `clone3 435 435, openat2 437 437`;

export const REFUSED_CLASSES = { NAMESPACES, OTHER_PROCESSES, KERNEL, SHARED_BY_USER, FILE_HANDLES } as const;

/** Null: this processor is not known, so nothing can be confined on it. */
export function callTable(arch: string) {
  const column = arch === "x64" ? 1 : arch === "arm64" ? 2 : null;
  if (column === null) return null;
  const numbers = (table: CallTable): CallNumbers => parse(table, column);
  const parts = {
    allowed: numbers(ALLOWED),
    byArgument: numbers(BY_ARGUMENT),
    refused: numbers(Object.values(REFUSED_CLASSES).join(",")),
    fileMarks: numbers(FILE_MARKS),
    unreadable: numbers(UNREADABLE),
  };
  const all: CallNumbers = new Map(Object.values(parts).flatMap((part) => [...part]));
  return { all, audit: column === 1 ? 0xc000003e : 0xc00000b7, ...parts };
}

/** Once before every agent process: plain loops, which cost nothing before they are compiled. */
function parse(table: CallTable, column: 1 | 2): CallNumbers {
  const calls = new Map<string, number>();
  for (const entry of table.split(",")) {
    const row = entry.trim().split(" ");
    if (row[column] !== "-") calls.set(row[0] ?? "", Number(row[column]));
  }
  return calls;
}
